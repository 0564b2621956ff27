package skillsapi

import (
	"bytes"
	"net/http/httptest"
	"sync"
)

var reader = sync.OnceValue(func() *API { return New(Options{BodyBytes: 1 << 20}) })

// DecodeAll checks a body against every contract. It returns the errors by the name of the contract.
func DecodeAll(body []byte) map[string]error {
	d := reader()
	errs := map[string]error{}
	for name, into := range map[string]any{
		"execute": &executeRequest{}, "register": &registerRequest{}, "create": &createRequest{}, "run": &runRequest{}, "install": &installRequest{},
		"uninstall": &uninstallRequest{}, "promote": &promoteRequest{}, "validate_code": &validateRequest{},
	} {
		r := httptest.NewRequest("POST", "/", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		errs[name] = d.decode(httptest.NewRecorder(), r, name, into)
	}
	return errs
}
