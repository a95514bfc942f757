"""Pictures of a result, drawn by matplotlib: `Result.plot`.

``layering`` says where nodes are, ``sheet`` where their boxes and edges are, ``network`` draws them; every kind of
picture has a module of its own. Nothing here touches pyplot or matplotlib's settings.
"""
