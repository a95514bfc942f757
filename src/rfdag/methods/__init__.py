"""The methods: for each, its options and how it finds an order.

In: evidence and a run. Out: what was found, on its way to a result.
"""
