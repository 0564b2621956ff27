package servertest_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/wasmedge"
	"github.com/atelier-run/atelier/server/servertest"
)

// TestWasmEdge_WithoutProgram_SaysHow checks that the capabilities contain the remedy if wasmedge is not installed. It
// also checks that the list of runtimes contains the features of remote runtimes and of runtimes with another
// interpreter.
func TestWasmEdge_WithoutProgram_SaysHow(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	if answer := s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/capabilities", nil); !strings.Contains(string(answer.Body), wasmedge.Remedy) {
		t.Errorf("%s", answer.Body)
	}
	var list struct {
		Items []struct {
			Runtime  string
			Features []runtimes.Feature
		}
	}
	answer := s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/runtimes", nil)
	if err := json.Unmarshal(answer.Body, &list); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"wasmedge": 1, "wasm": 1, "monty": 3, "e2b": 4, "bacalhau": 5, "remote": 4} {
		if !slices.ContainsFunc(list.Items, func(i struct {
			Runtime  string
			Features []runtimes.Feature
		},
		) bool {
			return i.Runtime == name && len(i.Features) == want
		}) {
			t.Errorf("%s has not %d features: %s", name, want, answer.Body)
		}
	}
}
