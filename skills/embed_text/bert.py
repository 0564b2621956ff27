"""Computes the forward pass of BERT over one text. With NumPy it takes milliseconds. In plain Python it takes seconds
and gives the same numbers."""

import math
import operator

ROWS = 64  # of a matrix that are numbers of Python at a time

sumprod = getattr(math, "sumprod", None) or (lambda a, b: sum(map(operator.mul, a, b)))


class Bert:
    def __init__(self, weights, config, error, numpy=None):
        self.weights, self.numpy, self.error = weights, numpy, error
        self.layers, self.heads, self.size = (config[name] for name in ("num_hidden_layers", "num_attention_heads", "hidden_size"))
        self.epsilon = config.get("layer_norm_eps", 1e-12)
        if config.get("hidden_act", "gelu") != "gelu":
            raise error(f"its activation is {config['hidden_act']}; this skill knows gelu")
        if config.get("position_embedding_type", "absolute") != "absolute":
            raise error("its positions are not absolute, which this skill does not know")
        self.positions = weights.shape("embeddings.position_embeddings.weight")[0]

    def run(self, numbers):
        """Returns a vector for each token."""
        w = self.weights
        kind = w.rows("embeddings.token_type_embeddings.weight", 0, 1)[0]
        places = w.rows("embeddings.position_embeddings.weight", 0, len(numbers))
        vectors = [
            [a + b + c for a, b, c in zip(w.rows("embeddings.word_embeddings.weight", number, 1)[0], place, kind)]
            for number, place in zip(numbers, places)
        ]
        vectors = self.norm(vectors, "embeddings.LayerNorm")
        for layer in range(self.layers):
            vectors = self.layer(vectors, f"encoder.layer.{layer}.")
        return vectors

    def layer(self, vectors, name):
        told = self.linear(self.attend(vectors, name + "attention.self."), name + "attention.output.dense")
        vectors = self.norm(add(vectors, told), name + "attention.output.LayerNorm")
        wide = [[gelu(x) for x in vector] for vector in self.linear(vectors, name + "intermediate.dense")]
        return self.norm(add(vectors, self.linear(wide, name + "output.dense")), name + "output.LayerNorm")

    def attend(self, vectors, name):
        queries, keys, values = (self.linear(vectors, name + part) for part in ("query", "key", "value"))
        width = self.size // self.heads
        scale = 1 / math.sqrt(width)
        found = [[] for _ in vectors]
        for head in range(self.heads):
            part = slice(head * width, (head + 1) * width)
            mine = [key[part] for key in keys]
            columns = list(zip(*(value[part] for value in values)))
            for told, query in zip(found, queries):
                query = query[part]
                scores = [sumprod(query, key) * scale for key in mine]
                top = max(scores)
                shares = [math.exp(score - top) for score in scores]
                total = sum(shares)
                told += [sumprod(shares, column) / total for column in columns]
        return found

    def linear(self, vectors, name):
        """Multiplies by a matrix and adds a vector."""
        weight, bias = name + ".weight", self.weights.vector(name + ".bias")
        height, width = self.weights.shape(weight)
        if width != len(vectors[0]) or height != len(bias):
            raise self.error(f"{weight} has the shape {height} x {width}, which does not fit")
        if self.numpy and self.weights.parts[weight]["dtype"] == "F32":
            matrix = self.numpy.frombuffer(self.weights.raw(weight, 0, height)[0], "<f4").reshape(height, width)
            return (self.numpy.asarray(vectors, "f4") @ matrix.T + self.numpy.asarray(bias, "f4")).tolist()
        columns = []
        for first in range(0, height, ROWS):
            for row, more in zip(self.weights.rows(weight, first, min(ROWS, height - first)), bias[first:]):
                columns.append([sumprod(row, vector) + more for vector in vectors])
        return list(map(list, zip(*columns)))

    def norm(self, vectors, name):
        scale, shift = self.weights.vector(name + ".weight"), self.weights.vector(name + ".bias")
        found = []
        for vector in vectors:
            mean = sum(vector) / len(vector)
            spread = math.sqrt(sum((x - mean) ** 2 for x in vector) / len(vector) + self.epsilon)
            found.append([(x - mean) / spread * a + b for x, a, b in zip(vector, scale, shift)])
        return found


def add(vectors, others):
    return [[a + b for a, b in zip(x, y)] for x, y in zip(vectors, others)]


def gelu(x):
    return 0.5 * x * (1 + math.erf(x * 0.7071067811865476))
