"""Ray tasks on two processors whose results an actor collects, one by one: all wait for the actor."""

import os
import random
import time

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
import ray


def walk(seed, steps):
    source, place = random.Random(seed), 0
    for _ in range(steps):
        place += source.choice((-1, 1))
    return place


@ray.remote
def simulate(seed):
    return walk(seed, 40_000)


@ray.remote(num_cpus=0)
class Collector:
    def __init__(self):
        self.places = []

    def write(self, place):
        time.sleep(0.1)  # a slow disk
        self.places.append(place)

    def mean(self):
        return sum(self.places) / len(self.places)


def main():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    collector = Collector.remote()
    ray.get([collector.write.remote(simulate.remote(seed)) for seed in range(16)])
    print("mean place", ray.get(collector.mean.remote()))
    ray.shutdown()


if __name__ == "__main__":
    main()
