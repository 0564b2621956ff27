package storetest

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// Dump returns the content of each table of a PostgreSQL database, byte for byte. Tests search the result for data that
// must not be stored.
func Dump(tb testing.TB, address string) map[string][]byte {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), address)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(tb.Context()) }() // all rows have been read
	rows, err := conn.Query(tb.Context(), "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
	if err != nil {
		tb.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		tb.Fatal(err)
	}
	dump := map[string][]byte{}
	for _, table := range tables {
		rows, err := conn.Query(tb.Context(), "SELECT * FROM "+pgx.Identifier{table}.Sanitize(), pgx.QueryResultFormats{pgx.BinaryFormatCode})
		if err != nil {
			tb.Fatal(err)
		}
		for rows.Next() {
			for _, value := range rows.RawValues() {
				dump[table] = append(append(dump[table], value...), '\n')
			}
		}
		if err := rows.Err(); err != nil {
			tb.Fatal(err)
		}
	}
	return dump
}
