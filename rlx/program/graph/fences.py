"""A graph's barriers: where a program may be cut into stages, and what is repeated before them."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import helper

from rlx.errors import GraphError
from rlx.program.graph.arguments import flag, listed, whole
from rlx.program.graph.nodes import Nodes
from rlx.program.graph.operands import NodeId


class Fences(Nodes):
    """What is added before a barrier is done before anything that is added after it begins."""

    def barrier(
        self, values: Sequence[int], repeat: int = 1, stages: int = 1, fixpoint: bool = False
    ) -> list[NodeId]:
        """Give each value on as it is, once all that was added before is done.

        With `repeat`, what stands between this barrier and the one before it is run so often, and
        each time but the last its values become those of that barrier, by position; `stages`
        barriers before it, to repeat more. With `fixpoint`, it ends once nothing changes.
        docs/barriers.md says more. As other nodes, a barrier that no output needs is left out.

        Raises:
            GraphError: there are no values, or a number is below 1.
        """
        given = listed("barrier", "values", values, "nodes")
        operands = [
            self._operand("barrier", f"values[{place}]", one) for place, one in enumerate(given)
        ]
        self._check_open()
        if not operands:
            raise GraphError("barrier: values has no node", fix="pass at least one node.")
        count = whole("barrier", "repeat", repeat, least=1)
        back = whole("barrier", "stages", stages, least=1)
        until = flag("barrier", "fixpoint", fixpoint)
        if count == 1 and (back > 1 or until):
            raise GraphError(
                "barrier: stages and fixpoint are for repeat, which is 1",
                fix="pass repeat: how often what is before is run, at most.",
            )
        attributes = {"repeat": count, "stages": back, "fixpoint": int(until)}
        node = helper.make_node(
            "Barrier",
            [one.name for one in operands],
            [],
            name=self._free("barrier"),
            domain="rlx",
            **(attributes if count > 1 else {}),
        )
        made = []
        for one in operands:
            name = self._free("barrier")
            node.output.append(name)
            made.append(self._number(name, one.type))
        self._nodes.update((int(one), node) for one in made)
        return made
