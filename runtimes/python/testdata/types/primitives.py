def main(name: str, age: int, height: float, member: bool) -> str:
    return f"{name} {age} {height} {member}"
# valid {"name": "Ada", "age": 36, "height": 1.7, "member": true}
# valid {"name": "", "age": 0, "height": 2, "member": false, "more": 1}
# invalid {"name": "Ada", "age": "36", "height": 1.7, "member": true}
# invalid {"name": "Ada", "age": 36, "height": 1.7}
