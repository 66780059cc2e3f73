"""A Dask dataframe on two workers: one of its eight files is eight times as large as the others."""

import dask.dataframe
import numpy as np
import pandas
from dask.distributed import Client, LocalCluster

SHOPS = np.array(["Aachen", "Bonn", "Celle", "Dresden"])


def read_month(month):
    """The sales of a month: month 5 has eight times as many."""
    random = np.random.default_rng(month)
    rows = 240_000 if month == 5 else 30_000
    return pandas.DataFrame({"shop": SHOPS[random.integers(0, 4, rows)], "price": random.random(rows)})


def clean_name(name):
    return name.strip().upper()


def clean_month(sales):
    return sales.assign(shop=[clean_name(name) for name in sales.shop])


def main():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        sales = dask.dataframe.from_map(read_month, range(8))
        sales = sales.map_partitions(clean_month, meta={"shop": str, "price": float})
        print(sales.groupby("shop").price.mean().compute().round(3).to_dict())


if __name__ == "__main__":
    main()
