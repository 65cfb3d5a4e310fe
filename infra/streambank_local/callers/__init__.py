"""Who calls local mode: what API Gateway checks before a function, for each mode of the template."""
