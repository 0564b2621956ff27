RATE = 0.25


def with_tax(net):
    return net * (1 + RATE)


def total(prices, discount=0.0):
    # TODO: refuse a discount above 1
    return sum(with_tax(price) for price in prices) * (1 - discount)


def label(name, price):
    """Returns the text of a price tag."""
    return f"{name}: {price:.2f}"
