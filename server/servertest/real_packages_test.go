package servertest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
	"github.com/atelier-run/atelier/server/servertest"
)

// realIndex is a package index that serves real wheels and npm tarballs.
func realIndex(t *testing.T) *packagestest.Index {
	t.Helper()
	index := packagestest.NewIndex(t)
	if err := index.AddFolder(packagestest.Folder(t)); err != nil {
		t.Fatal(err)
	}
	return index
}

const modelled = `from pydantic import BaseModel, ValidationError
import pydantic

class Order(BaseModel):
    count: int

def main(count):
    try:
        parse = getattr(Order, "model_validate", None) or Order.parse_obj
        return {"version": pydantic.VERSION, "count": parse({"count": count}).count}
    except ValidationError as error:
        return {"version": pydantic.VERSION, "errors": len(error.errors())}
`

// TestRealPackages runs and publishes agents with real packages: a pure Python package, a package with compiled
// modules, two major versions of one package, and two npm packages. After a restart without the index, all versions
// must run.
func TestRealPackages(t *testing.T) {
	t.Parallel()
	index := realIndex(t)
	data, dir := t.TempDir(), packagestest.Dir(t)
	s := servertest.On(t, data, withPackages(t, index, dir))
	agents := []struct {
		name, language, code string
		packages             []string
		input                map[string]any
		want                 string
	}{
		{"fetches", "python", "import requests\n\ndef main(name):\n    return requests.Request('GET', 'http://x.test/', params={'q': name}).prepare().url\n", []string{"requests==2.32.5"}, map[string]any{"name": "a b"}, `"http://x.test/?q=a+b"`},
		{"computes", "python", "import numpy\n\ndef main(n):\n    numbers = numpy.arange(n, dtype=float)\n    return {'dot': float(numbers @ numbers), 'solved': numpy.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [1.0, 2.0]).tolist()}\n", []string{"numpy"}, map[string]any{"n": 4}, `{"dot":14.0,"solved":[0.5,0.5]}`},
		{"old-models", "python", modelled, []string{"pydantic<2"}, map[string]any{"count": "7"}, `{"version":"1.10.24","count":7}`},
		{"new-models", "python", modelled, []string{"pydantic>=2"}, map[string]any{"count": "many"}, `{"version":"2.12.4","errors":1}`},
		{"checks", "typescript", "import { z } from 'zod';\nconst given = z.object({ n: z.number().min(3) });\nexport default (input: unknown) => given.safeParse(input).success;\n", []string{"zod@^4"}, map[string]any{"n": 2}, `false`},
		{"groups", "javascript", "import _ from 'lodash';\nexport default ({ list }) => _.groupBy(list, (n) => (n % 2 ? 'odd' : 'even'));\n", []string{"lodash@4.17.21"}, map[string]any{"list": []int{1, 2, 3}}, `{"odd":[1,3],"even":[2]}`},
	}
	for _, one := range agents {
		s.Create(t, map[string]any{"name": one.name, "language": one.language, "code": one.code, "packages": one.packages})
		if run := s.Execute(t, one.name, "draft", one.input); string(run.Output) != one.want {
			t.Errorf("the draft of %s: %s %+v, want %s", one.name, run.Output, run.Error, one.want)
		}
		s.Publish(t, one.name, "1.0.0")
	}
	index.Close()
	s.Stop(t)
	s = servertest.On(t, data, withPackages(t, index, dir))
	for range 2 {
		for _, one := range agents {
			if run := s.Execute(t, one.name, "1.0.0", one.input); string(run.Output) != one.want {
				t.Errorf("the version of %s: %s %+v, want %s", one.name, run.Output, run.Error, one.want)
			}
		}
	}
}

const pydanticAgent = `from __future__ import annotations
import datetime, decimal, enum, uuid
from typing import Annotated, Generic, Literal, TypeVar, Union
from pydantic import BaseModel, ConfigDict, Field, field_validator

Item = TypeVar("Item")

class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"

class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(9, ge=0, le=9)

class Dog(BaseModel):
    kind: Literal["dog"]
    name: Annotated[str, Field(min_length=1, pattern="^[A-Z]", description="Begins with a capital.")]

class Page(BaseModel, Generic[Item]):
    items: list[Item] = Field(max_length=3)
    next: str | None = None

class Order(BaseModel):
    """An order."""
    model_config = ConfigDict(extra="forbid")
    number: uuid.UUID
    placed: datetime.datetime
    price: decimal.Decimal = Field(gt=0, alias="cost")
    colour: Colour = Colour.RED
    pet: Annotated[Union[Cat, Dog], Field(discriminator="kind")]
    pages: Page[int]
    sizes: dict[str, tuple[int, float]] = {}

    @field_validator("pages")
    @classmethod
    def short(cls, value):
        if value.next == "never":
            raise ValueError("must not be never")
        return value

class Report(BaseModel):
    price: decimal.Decimal
    printed: list[dict]

def main(input: Order) -> Report:
    return Report(price=input.price, printed=[Order.model_json_schema(), Report.model_json_schema(mode="serialization")])
`

// TestPydantic_PartsWithoutSchema_Noted checks two cases. A part of a model that JSON Schema cannot express accepts any
// value, with a note. An annotation that cannot be resolved is reported with file and line.
func TestPydantic_PartsWithoutSchema_Noted(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, withPackages(t, realIndex(t), packagestest.Dir(t)))
	body := func(code string) map[string]any {
		return map[string]any{"language": "python", "code": code, "packages": []string{"pydantic>=2"}}
	}
	var got inferred
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/infer", body(`from typing import Any, Callable
from pydantic import BaseModel, ConfigDict

class Odd: ...

class Order(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    id: int
    more: dict[str, Any] = {}
    hook: Callable[[], int] | None = None
    odd: Odd | None = None

def main(order: Order, other: "Missing", bare, days: int = 1) -> Order:
    """Ships an order.

    Args:
        days: How long it may take.
    """
    return order
`)).Into(t, &got)
	var said []string
	for _, note := range got.Notes {
		said = append(said, fmt.Sprintf("%s:%d: %s", note.File, note.Line, note.Message))
	}
	for _, want := range []string{
		"main.py:9: The type is Any: any value is accepted.", "main.py:10: A function has no JSON form: any value is accepted.",
		"main.py:13: The annotation Missing cannot be resolved", "main.py:13: The parameter bare has no annotation: any value is accepted.", "main.py:13: Pydantic has no JSON Schema for a part of this type",
	} {
		if !strings.Contains(strings.Join(said, "\n"), want) {
			t.Errorf("%q lacks %q", said, want)
		}
	}
	for _, want := range []string{`"required":["order","other","bare"]`, `"description":"How long it may take."`, `"id":{"title":"Id","type":"integer"}`} {
		if !strings.Contains(string(got.InputSchema), want) {
			t.Errorf("%s lacks %s", got.InputSchema, want)
		}
	}
	refused := s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/infer", body("from __future__ import annotations\nfrom pydantic import BaseModel\n\nclass Order(BaseModel):\n    id: int\n    next: Missing\n\ndef main(order: Order): pass\n"))
	if !strings.Contains(string(refused.Body), `"file":"main.py","line":6`) || !strings.Contains(string(refused.Body), "Missing") {
		t.Errorf("%s", refused.Body)
	}
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/infer", body("from pydantic import BaseModel\n\nclass Order(BaseModel):\n    next: 'Order | None' = None\n\ndef main(input: Order, days: int) -> Order: return input\n")).Into(t, &got)
	if text := string(got.InputSchema); !strings.Contains(text, `"$ref":"#/$defs/Order"`) || !strings.Contains(text, `"required":["days"]`) || !strings.Contains(text, `"type":"object"`) {
		t.Errorf("%s", text)
	}
}

// TestPydantic_ClassesOfOneName_Apart checks that the input and a named parameter may have different classes with the
// same name.
func TestPydantic_ClassesOfOneName_Apart(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, withPackages(t, realIndex(t), packagestest.Dir(t)))
	const code = `from pydantic import BaseModel

class Shop:
    class Item(BaseModel):
        price: int

class Depot:
    class Item(BaseModel):
        place: str

class Order(BaseModel):
    items: list[Shop.Item]

class Stock(BaseModel):
    items: list[Depot.Item]

def main(input: Order, stock: Stock) -> int:
    return input.items[0].price + len(stock.items[0].place)
`
	var got inferred
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/infer", map[string]any{"language": "python", "code": code, "packages": []string{"pydantic>=2"}}).Into(t, &got)
	s.Create(t, map[string]any{"name": "models", "language": "python", "code": code, "packages": []string{"pydantic>=2"}, "inputSchema": got.InputSchema})
	run := s.Execute(t, "models", "draft", map[string]any{"items": []any{map[string]any{"price": 3}}, "stock": map[string]any{"items": []any{map[string]any{"place": "ab"}}}})
	if !run.Success || string(run.Output) != "5" {
		t.Errorf("%+v %s with %s", run.Error, run.Output, got.InputSchema)
	}
}

// TestPydantic infers the schemas that the real Pydantic prints. The run must get a model, and the error of a validator
// must name the field.
func TestPydantic(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, withPackages(t, realIndex(t), packagestest.Dir(t)))
	code := pydanticAgent
	body := map[string]any{"language": "python", "code": code, "packages": []string{"pydantic>=2"}}
	var got inferred
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/infer", body).Into(t, &got)
	if got.Source != "pydantic" || len(got.Notes) != 0 {
		t.Errorf("%s, %+v", got.Source, got.Notes)
	}
	s.Create(t, map[string]any{
		"name": "models", "language": "python", "code": code, "packages": []string{"pydantic>=2"}, "inputSchema": got.InputSchema, "outputSchema": got.OutputSchema,
		"schemaSources": map[string]any{"input": got.SchemaSources.Input, "output": got.SchemaSources.Output},
	})
	order := map[string]any{
		"number": "6f1c24a5-9ed1-4e9c-8a3b-1f6a3f7a2b11", "placed": "2026-01-02T03:04:05Z", "cost": "1.50", "pet": map[string]any{"kind": "dog", "name": "Rex"}, "pages": map[string]any{"items": []int{1}},
	}
	run := s.Execute(t, "models", "draft", order)
	var output struct {
		Price   string
		Printed []json.RawMessage
	}
	if err := json.Unmarshal(run.Output, &output); err != nil || output.Price != "1.50" || len(output.Printed) != 2 {
		t.Fatalf("%s, %+v, %v", run.Output, run.Error, err)
	}
	for i, ours := range []json.RawMessage{got.InputSchema, got.OutputSchema} {
		mine, err := jcs.JSON(ours)
		theirs, theirErr := jcs.JSON(output.Printed[i])
		if err != nil || theirErr != nil || string(mine) != string(theirs) {
			t.Errorf("%s, but Pydantic prints %s, %v, %v", mine, theirs, err, theirErr)
		}
	}
	order["pages"] = map[string]any{"items": []int{1}, "next": "never"}
	run = s.Execute(t, "models", "draft", order)
	if e := run.Error; e == nil || e.Message != "input.pages: Value error, must not be never" || e.File != "main.py" || e.Type != runtimes.InvalidInput || !slices.Equal(e.Errors, []runtimes.FieldError{{Pointer: "/input/pages", Message: "Value error, must not be never"}}) {
		t.Errorf("%+v, %+v", run, run.Error)
	}
	// Without an input schema, which would reject the input first, the error must name every place, without the members of
	// unions.
	s.Want(t, http.StatusOK, http.MethodPut, "/api/v1/code-agents/models", map[string]any{"inputSchema": map[string]any{"type": "object"}}, servertest.Headers{"If-Match": `"1"`})
	order["pages"], order["pet"] = map[string]any{}, map[string]any{"kind": "dog", "name": "rex"}
	run = s.Execute(t, "models", "draft", order)
	if e := run.Error; e == nil || len(e.Errors) != 2 || e.Errors[0].Pointer != "/input/pet/name" || e.Errors[1] != (runtimes.FieldError{Pointer: "/input/pages/items", Message: "Field required"}) {
		t.Errorf("%+v, %+v", run, run.Error)
	}
}
