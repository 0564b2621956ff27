"""Computes the vector of a text with a sentence-transformers model. The operator configures the directory of the model.
If a part of the model is missing, the skill fails with an error that names it."""

import math
import os
import sys

from .bert import Bert
from .tokens import Tokenizer, read
from .weights import Weights

FOLDER = "/models"
DEFAULT = "all-MiniLM-L6-v2"


class EmbeddingModelNotConfigured(Exception):
    """The operator has named no model."""


class EmbeddingModelUnusable(Exception):
    """The configured model cannot be used, or is not the requested one."""


def embed_text(text, model=None, normalize=True):
    name, folder = locate(model)

    def unusable(what):
        return EmbeddingModelUnusable(f"The embedding model {name} cannot be used: {what}.")

    try:
        config, longest, pooling, always = settings(folder, unusable)
        bert = Bert(Weights(os.path.join(folder, "model.safetensors"), unusable), config, unusable, numpy())
        numbers = Tokenizer(folder, unusable).encode(text, min(longest, bert.positions))
        vector = pool(bert.run(numbers), pooling)
    except FileNotFoundError as e:
        raise unusable(f"there is no {os.path.basename(e.filename)} in its directory") from None
    except (KeyError, TypeError, ValueError, IndexError) as e:
        raise unusable(f"its files do not fit together ({type(e).__name__}: {e})") from None
    if normalize or always:
        length = math.sqrt(sum(x * x for x in vector))
        vector = [x / length for x in vector] if length else vector
    return {
        "embedding": vector, "dimension": len(vector), "model_used": name, "text_length": len(text), "normalized": bool(normalize or always),
    }


def locate(model):
    """Returns the name and the directory of the model. The operator's directory is one model, or contains models by
    name."""
    mounted = sorted(os.listdir(FOLDER)) if os.path.isdir(FOLDER) else []
    if not mounted:
        raise EmbeddingModelNotConfigured(
            "No embedding model is configured, and a vector is never made up. Start the server with --embedding-model DIR (ATELIER_EMBEDDING_MODEL), the "
            f"directory of a sentence-transformers model such as {model or DEFAULT} with config.json, model.safetensors and vocab.txt, or one that holds such directories by name."
        )
    top = os.path.join(FOLDER, mounted[0])
    if os.path.isfile(os.path.join(top, "config.json")):
        title = str(read(os.path.join(top, "config.json")).get("_name_or_path") or "").rstrip("/").rpartition("/")[2]
        names = {mounted[0], title} - {""}
        if model is not None and model not in names:
            raise EmbeddingModelUnusable(f"The model {model} is not configured on this server: --embedding-model names {mounted[0]}. Ask without model to use that one.")
        return model or (title if title.startswith(("all-", "paraphrase-")) else mounted[0]), top
    wanted = model or DEFAULT
    folder = os.path.join(top, wanted)
    if not os.path.isfile(os.path.join(folder, "config.json")):
        raise EmbeddingModelUnusable(f"The model {wanted} is not configured on this server: the directory of --embedding-model has no {wanted}/config.json.")
    return wanted, folder


def settings(folder, unusable):
    """Reads the model's files: its shape, the maximum length of a text, and the pooling of token vectors."""
    config = read(os.path.join(folder, "config.json"))
    if config.get("model_type") != "bert":
        raise unusable(f"it is of the kind {config.get('model_type')!r}; this skill computes bert models, such as {DEFAULT}")
    longest, pooling, always = config.get("max_position_embeddings", 512), "mean", False
    if os.path.isfile(os.path.join(folder, "sentence_bert_config.json")):
        longest = read(os.path.join(folder, "sentence_bert_config.json")).get("max_seq_length") or longest
    if os.path.isfile(os.path.join(folder, "modules.json")):
        for module in read(os.path.join(folder, "modules.json")):
            kind = module["type"].rpartition(".")[2]
            if kind == "Normalize":
                always = True
            elif kind == "Pooling":
                told = read(os.path.join(folder, module["path"], "config.json"))
                modes = [mode for mode in ("mean_tokens", "cls_token", "max_tokens") if told.get("pooling_mode_" + mode)]
                others = [mode for mode, on in told.items() if mode.startswith("pooling_mode_") and on is True and mode[13:] not in modes]
                if len(modes) != 1 or others:
                    raise unusable("its way of pooling is none of mean, cls and max")
                pooling = modes[0].partition("_")[0]
            elif kind != "Transformer":
                raise unusable(f"it has a module {kind}, which this skill does not know")
    return config, longest, pooling, always


def pool(vectors, pooling):
    if pooling == "cls":
        return vectors[0]
    if pooling == "max":
        return [max(column) for column in zip(*vectors)]
    return [sum(column) / len(vectors) for column in zip(*vectors)]


def numpy():
    """Returns NumPy if the interpreter has it, else None. Programs run without the package folders, so it adds them
    first."""
    import sysconfig
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    places = [sysconfig.get_path("purelib"), "/usr/lib/python3/dist-packages", f"/usr/local/lib/{version}/dist-packages", f"{sys.prefix}/lib/{version}/site-packages"]
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    sys.path += [place for place in places if place and place not in sys.path and os.path.isdir(place)]
    try:
        import numpy  # pyright: ignore[reportMissingImports]
        return numpy
    except ImportError:
        return None
