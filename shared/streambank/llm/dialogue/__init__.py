"""What every language model is asked, and how its answers are read: prompts, tools, two tries."""
