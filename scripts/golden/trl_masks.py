"""What TRL learns from in conversations that Whetstone exported: python scripts/golden/trl_masks.py, with trl (1.16).

Reads src/interop/export/golden/trl_mask_conversations.json and writes trl_masks.json beside it: for each template the texts
of the tokens, and the mask of `assistant_only_loss` (`return_assistant_tokens_mask` with TRL's own training variant of the template), and
the template as the model has it. (Texts, since the tokenizers of the tests have their vocabularies cut down, and Python numbers
their control tokens anew.)
"""

import json
import pathlib

import trl
from transformers import AutoTokenizer

root = pathlib.Path(__file__).parents[2]
golden = root / "src/interop/export/golden"
templates = pathlib.Path(trl.__file__).parent / "chat_templates"


def masked(name, row):
    tokenizer = AutoTokenizer.from_pretrained(root / "test-fixtures/text" / name.replace("_", "."))
    training = (templates / f"{name}_training.jinja").read_text(encoding="utf-8")
    out = tokenizer.apply_chat_template(
        row["prompt"] + row["completion"],
        tools=row["tools"] or None,
        chat_template=training,
        return_dict=True,
        return_assistant_tokens_mask=True,
    )
    ids = out["input_ids"]
    return {
        "template": (templates / f"{name}.jinja").read_text(encoding="utf-8"),
        "text": [tokenizer.decode([token]) for token in ids],
        "mask": out["assistant_masks"],
    }


rows = json.loads((golden / "trl_mask_conversations.json").read_text(encoding="utf-8"))
result = {name: masked(name, row) for name, row in rows.items()}
(golden / "trl_masks.json").write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
