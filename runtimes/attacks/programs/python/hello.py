def main(input):
    print("hello " + input["name"])
    return {"greeting": "Hello, " + input["name"]}
