def run(action: str, args: dict) -> dict:
    return {"action": action}
# valid {"action": "go", "args": {}}
# valid {"x": 1}
