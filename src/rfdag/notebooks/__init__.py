"""What a notebook shows of a result, a bootstrap, knowledge, a model, an effect: HTML without script or request.

All looks are in the elements themselves, so that nothing leaks into the notebook, and take its colour of text, so that
they are read on dark ground as well. ``views`` has one function for each kind of object.
"""
