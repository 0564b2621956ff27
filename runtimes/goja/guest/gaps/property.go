package gaps

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Expand replaces the property escapes \p{…} and \P{…} of a pattern with the flag u by character classes.
func Expand(pattern string) (string, error) {
	if !strings.Contains(pattern, `\p`) && !strings.Contains(pattern, `\P`) {
		return pattern, nil
	}
	var out strings.Builder
	class := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern) && (pattern[i+1] == 'p' || pattern[i+1] == 'P'):
			negated := pattern[i+1] == 'P'
			end := strings.IndexByte(pattern[i:], '}')
			if i+2 >= len(pattern) || pattern[i+2] != '{' || end < 0 {
				return "", errors.New("invalid property name in the regular expression: write \\p{…}")
			}
			ranges, err := property(pattern[i+3 : i+end])
			if err != nil {
				return "", err
			}
			if negated {
				ranges = complement(ranges)
			}
			write(&out, ranges, class)
			i += end
		case c == '\\' && i+1 < len(pattern):
			out.WriteString(pattern[i : i+2])
			i++
		default:
			switch c {
			case '[':
				class = true
			case ']':
				class = false
			}
			out.WriteByte(c)
		}
	}
	return out.String(), nil
}

// span is a range of code points, both ends included.
type span struct{ lo, hi rune }

func write(out *strings.Builder, ranges []span, inClass bool) {
	if !inClass {
		out.WriteByte('[')
		defer out.WriteByte(']')
	}
	for _, r := range ranges {
		fmt.Fprintf(out, `\u{%x}`, r.lo)
		if r.hi > r.lo {
			fmt.Fprintf(out, `-\u{%x}`, r.hi)
		}
	}
}

// property returns the code points that have a property, by its ECMAScript name.
func property(name string) ([]span, error) {
	key, value, pair := strings.Cut(name, "=")
	switch {
	case pair && (key == "Script" || key == "sc"):
		if table, ok := unicode.Scripts[value]; ok {
			return spans(table), nil
		}
		return nil, fmt.Errorf("invalid property name \\p{%s} in the regular expression: unknown script; use its long name", name)
	case pair && (key == "Script_Extensions" || key == "scx"):
		return nil, fmt.Errorf("\\p{%s} is not available in the goja runtime: use \\p{Script=%s}", name, value)
	case pair && key != "General_Category" && key != "gc":
		return nil, fmt.Errorf("invalid property name \\p{%s} in the regular expression", name)
	case pair:
		if ranges, ok := category(value); ok {
			return ranges, nil
		}
	default:
		if ranges, ok := category(name); ok {
			return ranges, nil
		}
		if ranges, ok := binary(name); ok {
			return ranges, nil
		}
	}
	return nil, fmt.Errorf("the property \\p{%s} is not available in the goja runtime: use general categories, scripts, or a class of characters", name)
}

func category(name string) ([]span, bool) {
	long := map[string]string{
		"Letter": "L", "Cased_Letter": "LC", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Titlecase_Letter": "Lt",
		"Modifier_Letter": "Lm", "Other_Letter": "Lo", "Mark": "M", "Combining_Mark": "M", "Nonspacing_Mark": "Mn",
		"Spacing_Mark": "Mc", "Enclosing_Mark": "Me", "Number": "N", "Decimal_Number": "Nd", "digit": "Nd",
		"Letter_Number": "Nl", "Other_Number": "No", "Punctuation": "P", "punct": "P", "Connector_Punctuation": "Pc",
		"Dash_Punctuation": "Pd", "Open_Punctuation": "Ps", "Close_Punctuation": "Pe", "Initial_Punctuation": "Pi",
		"Final_Punctuation": "Pf", "Other_Punctuation": "Po", "Symbol": "S", "Math_Symbol": "Sm", "Currency_Symbol": "Sc",
		"Modifier_Symbol": "Sk", "Other_Symbol": "So", "Separator": "Z", "Space_Separator": "Zs", "Line_Separator": "Zl",
		"Paragraph_Separator": "Zp", "Other": "C", "Control": "Cc", "cntrl": "Cc", "Format": "Cf", "Surrogate": "Cs",
		"Private_Use": "Co", "Unassigned": "Cn",
	}
	if short, ok := long[name]; ok {
		name = short
	}
	switch name {
	case "LC":
		return union(unicode.Lu, unicode.Ll, unicode.Lt), true
	case "Cn":
		return complement(assigned()), true
	case "C": // Go's C lacks the unassigned code points
		return union(unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co, table(complement(assigned()))), true
	}
	if found, ok := unicode.Categories[name]; ok {
		return spans(found), true
	}
	return nil, false
}

func binary(name string) ([]span, bool) {
	short := map[string]string{
		"Alpha": "Alphabetic", "Lower": "Lowercase", "Upper": "Uppercase", "space": "White_Space", "IDS": "ID_Start",
		"IDC": "ID_Continue", "Hex": "Hex_Digit", "AHex": "ASCII_Hex_Digit", "Ideo": "Ideographic", "EPres": "Emoji_Presentation",
		"EMod": "Emoji_Modifier", "EBase": "Emoji_Modifier_Base", "EComp": "Emoji_Component", "ExtPict": "Extended_Pictographic",
		"UIdeo": "Unified_Ideograph", "VS": "Variation_Selector", "RI": "Regional_Indicator", "QMark": "Quotation_Mark",
		"Dia": "Diacritic", "Ext": "Extender", "Term": "Terminal_Punctuation", "STerm": "Sentence_Terminal",
	}
	if long, ok := short[name]; ok {
		name = long
	}
	p := unicode.Properties
	switch name {
	case "Any":
		return []span{{0, unicode.MaxRune}}, true
	case "ASCII":
		return []span{{0, 0x7f}}, true
	case "Assigned":
		return assigned(), true
	case "Alphabetic":
		return union(unicode.L, unicode.Nl, p["Other_Alphabetic"]), true
	case "Lowercase":
		return union(unicode.Ll, p["Other_Lowercase"]), true
	case "Uppercase":
		return union(unicode.Lu, p["Other_Uppercase"]), true
	case "Cased":
		return union(unicode.Lu, unicode.Ll, unicode.Lt, p["Other_Lowercase"], p["Other_Uppercase"]), true
	case "Math":
		return union(unicode.Sm, p["Other_Math"]), true
	case "ID_Start":
		return union(unicode.L, unicode.Nl, p["Other_ID_Start"]), true
	case "ID_Continue":
		return union(unicode.L, unicode.Nl, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, p["Other_ID_Start"], p["Other_ID_Continue"]), true
	}
	if found := emoji(name); found != nil {
		return spans(found), true
	}
	if strings.HasPrefix(name, "Other_") { // Unicode's contributory properties are not part of ECMAScript
		return nil, false
	}
	if found, ok := p[name]; ok {
		return spans(found), true
	}
	return nil, false
}

func assigned() []span {
	return union(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co)
}

func union(tables ...*unicode.RangeTable) []span {
	var all []span
	for _, t := range tables {
		all = append(all, spans(t)...)
	}
	return merge(all)
}

func spans(table *unicode.RangeTable) []span {
	var all []span
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			all = append(all, span{lo, hi})
			return
		}
		for c := lo; c <= hi; c += stride {
			all = append(all, span{c, c})
		}
	}
	for _, r := range table.R16 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range table.R32 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return merge(all)
}

func table(ranges []span) *unicode.RangeTable {
	t := &unicode.RangeTable{}
	for _, r := range ranges {
		t.R32 = append(t.R32, unicode.Range32{Lo: uint32(r.lo), Hi: uint32(r.hi), Stride: 1})
	}
	return t
}

func merge(all []span) []span {
	slices.SortFunc(all, func(a, b span) int { return int(a.lo - b.lo) })
	var merged []span
	for _, r := range all {
		if last := len(merged) - 1; last >= 0 && r.lo <= merged[last].hi+1 {
			merged[last].hi = max(merged[last].hi, r.hi)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

func complement(ranges []span) []span {
	var rest []span
	next := rune(0)
	for _, r := range ranges {
		if r.lo > next {
			rest = append(rest, span{next, r.lo - 1})
		}
		next = r.hi + 1
	}
	if next <= unicode.MaxRune {
		rest = append(rest, span{next, unicode.MaxRune})
	}
	return rest
}
