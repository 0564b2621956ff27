class Stock:
    def __init__(self):
        self.items = {}

    def add(self, name, count=1):
        # TODO: remember who added it
        self.items[name] = self.items.get(name, 0) + count

    def has(self, name):
        return self.items.get(name, 0) > 0
