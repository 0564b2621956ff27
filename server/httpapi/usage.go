package httpapi

import (
	"context"
	"encoding/csv"
	"log/slog"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/usage"
)

// csvType is the media type of CSV tables.
const csvType = "text/csv"

func (a *API) getUsage() {
	type in struct {
		Month  string `query:"month" maxLength:"7" doc:"Calendar month in UTC, such as 2026-11 (default: the current one)."`
		Format string `query:"format" enum:"json,csv" doc:"csv returns a table, like Accept: text/csv. Use it in links, which cannot send a header."`
		Accept string `header:"Accept" doc:"text/csv returns a table."`
	}
	type out struct{ Body usage.Monthly }
	schemas := a.huma.OpenAPI().Components.Schemas
	add(a, endpoint{
		id: "getUsage", method: http.MethodGet, path: Base + "/usage", tag: "server", summary: "Get the usage of the workspace in a month",
		about:   "Lists every meter with its amount, price and cost, and its last twelve months. The use of a run is counted when the run ends, and remains when the run is removed. With Accept: text/csv or format=csv, the answer is a table with one row for each month and meter.",
		instead: a.writeUsage,
		answers: map[string]*huma.Response{"200": {Description: "The usage.", Content: map[string]*huma.MediaType{
			"application/json": {Schema: schemas.Schema(reflect.TypeFor[usage.Monthly](), true, "")},
			csvType:            {Schema: &huma.Schema{Type: huma.TypeString}},
		}}},
	}, func(ctx context.Context, q *in) (*out, error) {
		r, err := a.Usage.Of(ctx, actor(ctx).Workspace, registry.Month(q.Month))
		if err != nil {
			return nil, err
		}
		return &out{Body: r}, nil
	})
}

// writeUsage answers a request for the usage as a CSV table. If the request asks for another format, it returns false.
func (a *API) writeUsage(w http.ResponseWriter, r *http.Request) bool {
	if !accepts(r.Header.Get("Accept"), csvType) && r.URL.Query().Get("format") != "csv" {
		return false
	}
	report, err := a.Usage.Of(r.Context(), actor(r.Context()).Workspace, registry.Month(r.URL.Query().Get("month")))
	if err != nil {
		a.Problems.Write(w, r, err)
		return true
	}
	w.Header().Set("Content-Type", csvType+"; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="usage-`+string(report.Month)+`.csv"`)
	table := csv.NewWriter(w)
	_ = table.WriteAll(usageRows(report)) // The method Error returns this error.
	if err := table.Error(); err != nil {
		a.Problems.Log.LogAttrs(r.Context(), slog.LevelWarn, "write usage", slog.String("request_id", telemetry.RequestID(r.Context())), slog.Any("error", err))
	}
	return true
}

// usageRows returns a header row, and one row for each month and meter.
func usageRows(r usage.Monthly) [][]string {
	rows := [][]string{{"month", "meter", "unit", "amount", "price", "per", "cost", "currency"}}
	for n := range usage.Months {
		for _, m := range r.Meters {
			at := m.History[n]
			cost := registry.Prices{m.Meter: m.Price}.Cost(m.Meter, at.Amount)
			rows = append(rows, []string{string(at.Month), string(m.Meter), m.Unit, decimal(at.Amount), decimal(m.Price), decimal(m.Per), decimal(cost), r.Currency})
		}
	}
	return rows
}

func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// accepts reports whether an Accept header names a media type.
func accepts(accept, media string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		if kind, _, err := mime.ParseMediaType(part); err == nil && kind == media {
			return true
		}
	}
	return false
}
