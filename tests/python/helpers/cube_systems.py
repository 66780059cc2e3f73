"""Which CUBE profiles CubeLib's tools combine, by CubeLib's rule.

No package contains CubeLib, so its rule is written down here: cube_diff, cube_merge and cube_mean copy the machine of
the first profile, and accept a further profile only if one of the two machines is part of the other. Parts of a machine
are equal by class and name, processes by rank and name, threads by rank. Every process of the part must be in the
whole. Threads are compared in reverse: every thread of the whole must be in the part.
"""

import tarfile
from xml.etree import ElementTree


def system_of(file):
    with tarfile.open(file) as archive:
        root = ElementTree.fromstring(archive.extractfile("anchor.xml").read())
    (machine,) = root.find("system").findall("systemtreenode")
    return _node(machine)


def _node(element):
    return {
        "key": (element.findtext("class"), element.findtext("name")),
        "nodes": [_node(one) for one in element.findall("systemtreenode")],
        "groups": {
            (int(one.findtext("rank")), one.findtext("name")):
                {int(thread.findtext("rank")) for thread in one.findall("location")}
            for one in element.findall("locationgroup")
        },
    }  # fmt: skip


def _is_part(part, whole):
    if part["key"] != whole["key"]:
        return False
    left = list(whole["nodes"])
    for node in part["nodes"]:
        found = next((one for one in left if _is_part(node, one)), None)
        if found is None:
            return False
        left.remove(found)
    return all(key in whole["groups"] and whole["groups"][key] <= threads
               for key, threads in part["groups"].items())  # fmt: skip


def compatible(one, other):
    """True if CubeLib's tools combine two machines."""
    return _is_part(one, other) or _is_part(other, one)
