"""What users have, checked and named.

In: a file, frame, array, dataset or Dask collection. Out: a `Table` of numbers with names, or a `Stream` of rows.
"""
