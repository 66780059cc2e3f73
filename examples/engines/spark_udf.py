"""One UDF of Spark that takes row after row, and the same as a pandas UDF."""

import pandas
from pyspark.sql import SparkSession
from pyspark.sql.functions import pandas_udf, udf


def with_tax(price):
    return round(price * rate(price), 2)


def rate(price):
    return 1.07 if price < 20 else 1.19


def with_tax_at_once(price: pandas.Series) -> pandas.Series:
    return (price * price.lt(20).map({True: 1.07, False: 1.19})).round(2)


def main():
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    prices = spark.range(200_000).selectExpr("rand(1) * 100 AS price").repartition(8)
    for tax in (udf(with_tax, "double", useArrow=False), pandas_udf(with_tax_at_once, "double")):
        print(prices.select(tax("price").alias("price")).selectExpr("round(sum(price))").first()[0])
    spark.stop()


if __name__ == "__main__":
    main()
