"""The model of region pairs, without torch: regions are proposed, measured, judged by a graph, and told.

proposals   which regions of two pictures may have changed
numbers     what is measured of each
values      what is measured of a change once its kind is known
runtime     the graph of a bundle judges them; statements come out
"""
