//go:build live

// These tests use a real language model. They are not part of make test, because it has no model. To run them: go test
// -tags live ./server/servertest -run RealModel
package servertest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
	"github.com/atelier-run/atelier/studio/assist"
)

// TestAssist_RealModel_WritesAProgram asks a real language model.
func TestAssist_RealModel_WritesAProgram(t *testing.T) {
	t.Parallel()
	model := strings.Fields(os.Getenv("ATELIER_TEST_LLM"))
	if len(model) < 2 {
		t.Fatal("ATELIER_TEST_LLM is not set; its value is the address, the name, and the key if there is one, with spaces between")
	}
	flags := map[string]string{"llm-base-url": model[0], "llm-model": model[1]}
	if len(model) > 2 {
		flags["llm-api-key"] = model[2]
	}
	s := servertest.New(t, servertest.Flags(t, flags))
	var p assist.Program
	s.Want(t, 200, "POST", "/api/v1/assist/generate", `{"description":"Counts the words of a text. The output is an object with the number as words.","language":"python","inputExample":{"text":"one two three"}}`).Into(t, &p)
	if string(p.Trial.Output) != `{"words":3}` || p.Tokens.Total() == 0 {
		t.Errorf("program is %+v", p)
	}
}
