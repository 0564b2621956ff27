package bundle

import (
	"encoding/json"
	"errors"
	"strings"
)

const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

var errMapping = errors.New("bad source map")

// shift moves a source map down by one line, because the wrapping function adds a line at the top. It also makes
// columns count from 1, as goja expects. The numbers in a map are relative to previous ones. So it is enough to change
// the first segment of each line (generated column) and the first segment of the map (source column).
func shift(raw []byte) ([]byte, error) {
	var m struct {
		Version  int      `json:"version"`
		Sources  []string `json:"sources"`
		Names    []string `json:"names"`
		Mappings string   `json:"mappings"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	for i, source := range m.Sources {
		m.Sources[i] = strings.TrimPrefix(source, namespace+":")
	}
	var out strings.Builder
	out.Grow(len(m.Mappings) + 1024)
	first := true
	for line := range strings.SplitSeq(m.Mappings, ";") {
		out.WriteByte(';')
		if line == "" {
			continue
		}
		segment, rest, more := strings.Cut(line, ",")
		fields, err := decode(segment)
		if err != nil {
			return nil, err
		}
		fields[0]++
		if first && len(fields) >= 4 {
			fields[3]++
			first = false
		}
		for _, field := range fields {
			encode(&out, field)
		}
		if more {
			out.WriteByte(',')
			out.WriteString(rest)
		}
	}
	m.Mappings = out.String()
	return json.Marshal(m)
}

// decode returns the numbers of one segment, which are base64 VLQ.
func decode(segment string) ([]int, error) {
	var fields []int
	value, bits := 0, 0
	for _, c := range []byte(segment) {
		digit := strings.IndexByte(base64, c)
		if digit < 0 || bits > 30 {
			return nil, errMapping
		}
		value |= (digit & 31) << bits
		bits += 5
		if digit&32 != 0 {
			continue
		}
		if value&1 != 0 {
			fields = append(fields, -(value >> 1))
		} else {
			fields = append(fields, value>>1)
		}
		value, bits = 0, 0
	}
	if len(fields) == 0 {
		return nil, errMapping
	}
	return fields, nil
}

func encode(out *strings.Builder, field int) {
	value := field << 1
	if field < 0 {
		value = -field<<1 | 1
	}
	for {
		digit := value & 31
		value >>= 5
		if value > 0 {
			digit |= 32
		}
		out.WriteByte(base64[digit])
		if value == 0 {
			return
		}
	}
}
