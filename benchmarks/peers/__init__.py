"""What Streambank and other memories cost in model calls, over one conversation and one scripted model.

`python -m benchmarks.peers [--only mem0]`; README.md beside this file says how each is driven and what came out.
"""
