"""What a run needs of the machine: threads, memory, devices, compilation, deadlines, progress, processes, files.

In: numbers of threads, bytes, seconds, paths. Out: thread pools, errors, compiled kernels, progress bars, files.
"""
