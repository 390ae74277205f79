"""A simulated Ray cluster: several nodes on this machine, each with processes of its own."""

import os
import sys
from contextlib import contextmanager

import pytest

ROOM = 80 * 2**20
"""Bytes of shared memory of a node, the least that Ray takes."""


class Nodes:
    """Three nodes of one core, beside a head that does no work."""

    def __init__(self, cluster):
        self._cluster = cluster
        self._working = []
        self.lost = 0

    @property
    def address(self):
        return self._cluster.address

    def fill_up(self):
        """Three nodes work; none of them is lost yet."""
        while len(self._working) < 3:
            with as_here():
                self._working.append(self._cluster.add_node(num_cpus=1, object_store_memory=ROOM))
        self._cluster.wait_for_nodes()
        self.lost = 0

    def kill_one(self):
        """End a node's processes at once, as where a machine loses its power."""
        self._cluster.remove_node(self._working.pop(), allow_graceful=False)
        self.lost += 1


@contextmanager
def as_here():
    """Nodes that are started inside find the package, and the tests' own modules, where this process does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        yield


@pytest.fixture(scope="session")
def _nodes(ray):
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": ROOM}
    with as_here():
        cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
        yield Nodes(cluster)
    finally:
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture
def nodes(_nodes):
    """The cluster, with three working nodes."""
    _nodes.fill_up()
    return _nodes
