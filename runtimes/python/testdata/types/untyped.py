def main(input, ctx):
    return input
# valid {}
# valid {"a": [1]}
