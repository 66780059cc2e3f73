"""Two ranks that torchrun starts average their gradients; rank 1 reads its input slowly, so rank 0 waits."""

import time

import torch
import torch.distributed


def read_batch(rank):
    if rank == 1:
        time.sleep(0.05)  # a slow disk
    return torch.randn(256, 256)


def train(net, batch):
    net.zero_grad()
    net(batch).square().mean().backward()


def average(net):
    for parameter in net.parameters():
        torch.distributed.all_reduce(parameter.grad)
        parameter.grad /= torch.distributed.get_world_size()


def main():
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    net = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
    for _ in range(100):
        train(net, read_batch(rank))
        average(net)
    if rank == 0:
        print("ranks", torch.distributed.get_world_size())
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
