"""The metrics, one in each file: each computes statistics of the pairs, whose sums give the score of a
corpus.
"""
