"""A worker of Celery with two processes: short tasks stand in the queue behind long ones.

Start the worker, then send the tasks:

    timeloom run -o mail -m celery -A celery_mail worker --concurrency 2 --prefetch-multiplier 1 --loglevel ERROR
    python celery_mail.py
"""

import os
import time

from celery import Celery

BASE = os.path.join(os.environ.get("TMPDIR", "/tmp"), "celery-mail")
for folder in ("queue", "results", "control"):
    os.makedirs(os.path.join(BASE, folder), exist_ok=True)
app = Celery("celery_mail", broker="filesystem://", backend=f"file://{BASE}/results")
app.conf.broker_transport_options = {
    "data_folder_in": f"{BASE}/queue",
    "data_folder_out": f"{BASE}/queue",
    "control_folder": f"{BASE}/control",
}


def count_digits(numbers):
    return sum(len(str(number)) for number in range(numbers))


@app.task
def report(numbers):
    return count_digits(numbers)


@app.task
def mail(name):
    time.sleep(0.02)
    return f"to {name}"


def main():
    long = [report.delay(600_000) for _ in range(4)]
    short = [mail.delay(name) for name in ("Ada", "Emmy", "Lise", "Marie")]
    print([result.get(timeout=120) for result in long + short])
    app.control.shutdown()


if __name__ == "__main__":
    main()
