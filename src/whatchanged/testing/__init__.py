"""Conformance suites for plug-ins: they check what every world and every data set reader must do.

Call them from the tests of your own package. A suite raises AssertionError at the first requirement that
is not met, and the error quotes the sentence, record or file that shows it.

    from whatchanged.testing import check_dataset, check_drawer, check_world

    def test_world():
        check_world(WORLD, [TRUTH_OF_A_CHANGE, TRUTH_OF_NO_CHANGE])

    def test_drawer(tmp_path):
        check_drawer(WORLD, "street-pairs", tmp_path, scenes=20)
"""

from whatchanged.testing.datasets import check_dataset
from whatchanged.testing.worlds import check_drawer, check_world

__all__ = ["check_dataset", "check_drawer", "check_world"]
