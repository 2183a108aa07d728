"""memtrack inside of other tools: pytest, Hugging Face's Trainer, Lightning. Each is imported by itself."""
