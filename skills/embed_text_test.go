package skills_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

type embedding struct {
	Vector     []float64 `json:"embedding"`
	Dimension  int       `json:"dimension"`
	Model      string    `json:"model_used"`
	TextLength int       `json:"text_length"`
	Normalized bool      `json:"normalized"`
}

// tiny is a BERT that is small enough to be made here, and computed a second time.
type tiny struct {
	vocabulary []string
	weights    map[string][]float64
	shapes     map[string][]int
}

const (
	hidden, wide, heads, layers = 8, 12, 2, 2
	positions, longest          = 12, 9
)

func newTiny() tiny {
	m := tiny{
		vocabulary: []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "hello", "world", "wor", "##ld", "##s", ",", "!", "cafe", "世", "界", "a"},
		weights:    map[string][]float64{}, shapes: map[string][]int{},
	}
	dice := rand.New(rand.NewPCG(7, 7))
	add := func(name string, around float64, shape ...int) {
		n := 1
		for _, s := range shape {
			n *= s
		}
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(float32(around + dice.NormFloat64()*0.3))
		}
		m.weights[name], m.shapes[name] = values, shape
	}
	norm := func(name string) { add(name+".weight", 1, hidden); add(name+".bias", 0, hidden) }
	dense := func(name string, out, in int) { add(name+".weight", 0, out, in); add(name+".bias", 0, out) }
	add("embeddings.word_embeddings.weight", 0, len(m.vocabulary), hidden)
	add("embeddings.position_embeddings.weight", 0, positions, hidden)
	add("embeddings.token_type_embeddings.weight", 0, 2, hidden)
	norm("embeddings.LayerNorm")
	for _, l := range []string{"encoder.layer.0.", "encoder.layer.1."} {
		for _, part := range []string{"query", "key", "value"} {
			dense(l+"attention.self."+part, hidden, hidden)
		}
		dense(l+"attention.output.dense", hidden, hidden)
		norm(l + "attention.output.LayerNorm")
		dense(l+"intermediate.dense", wide, hidden)
		dense(l+"output.dense", hidden, wide)
		norm(l + "output.LayerNorm")
	}
	return m
}

// write lays the model out as sentence-transformers does.
func (m tiny) write(t *testing.T, dir string, prefix, dtype string) {
	t.Helper()
	header, data := map[string]any{"__metadata__": map[string]string{"format": "pt"}}, []byte{}
	for name, values := range m.weights {
		at := len(data)
		for _, v := range values {
			bits := math.Float32bits(float32(v))
			if dtype == "BF16" {
				data = binary.LittleEndian.AppendUint16(data, uint16(bits>>16))
			} else {
				data = binary.LittleEndian.AppendUint32(data, bits)
			}
		}
		header[prefix+name] = map[string]any{"dtype": dtype, "shape": m.shapes[name], "data_offsets": []int{at, len(data)}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "model.safetensors", string(binary.LittleEndian.AppendUint64(nil, uint64(len(text))))+string(text)+string(data))
	put(t, dir, "config.json", `{"model_type":"bert","_name_or_path":"somebody/all-MiniLM-L6-v2","hidden_size":8,"num_hidden_layers":2,"num_attention_heads":2,"intermediate_size":12,"max_position_embeddings":12,"layer_norm_eps":1e-12}`)
	put(t, dir, "vocab.txt", strings.Join(m.vocabulary, "\n")+"\n")
	put(t, dir, "sentence_bert_config.json", `{"max_seq_length":9}`)
	put(t, dir, "modules.json", `[{"type":"sentence_transformers.models.Transformer","path":""},{"type":"sentence_transformers.models.Pooling","path":"1_Pooling"}]`)
	put(t, dir, "1_Pooling/config.json", `{"word_embedding_dimension":8,"pooling_mode_mean_tokens":true,"pooling_mode_cls_token":false}`)
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// visible is a directory that programs of other users may read, as a model's must be.
func visible(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "atelier-model")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// mean is what the model is to say of tokens: the forward pass once more, as the paper has it.
func (m tiny) mean(tokens []string) []float64 {
	x := make([][]float64, len(tokens))
	for i, token := range tokens {
		x[i] = make([]float64, hidden)
		number := slices.Index(m.vocabulary, token)
		for j := range hidden {
			x[i][j] = m.weights["embeddings.word_embeddings.weight"][number*hidden+j] + m.weights["embeddings.position_embeddings.weight"][i*hidden+j] +
				m.weights["embeddings.token_type_embeddings.weight"][j]
		}
	}
	m.normalize(x, "embeddings.LayerNorm")
	for _, l := range []string{"encoder.layer.0.", "encoder.layer.1."} {
		q, k, v := m.dense(x, l+"attention.self.query"), m.dense(x, l+"attention.self.key"), m.dense(x, l+"attention.self.value")
		seen := make([][]float64, len(x))
		for i := range x {
			seen[i] = make([]float64, hidden)
			for h := range heads {
				const width = hidden / heads
				var total float64
				share := make([]float64, len(x))
				for j := range x {
					var dot float64
					for d := h * width; d < (h+1)*width; d++ {
						dot += q[i][d] * k[j][d]
					}
					share[j] = math.Exp(dot / math.Sqrt(width))
					total += share[j]
				}
				for j := range x {
					for d := h * width; d < (h+1)*width; d++ {
						seen[i][d] += share[j] / total * v[j][d]
					}
				}
			}
		}
		x = m.rest(x, seen, l+"attention.output")
		up := m.dense(x, l+"intermediate.dense")
		for i := range up {
			for j, a := range up[i] {
				up[i][j] = a / 2 * math.Erfc(-a/math.Sqrt2)
			}
		}
		x = m.rest(x, up, l+"output")
	}
	average := make([]float64, hidden)
	for _, row := range x {
		for j, a := range row {
			average[j] += a / float64(len(x))
		}
	}
	return average
}

func (m tiny) rest(x, told [][]float64, name string) [][]float64 {
	out := m.dense(told, name+".dense")
	for i := range out {
		for j := range out[i] {
			out[i][j] += x[i][j]
		}
	}
	m.normalize(out, name+".LayerNorm")
	return out
}

func (m tiny) dense(x [][]float64, name string) [][]float64 {
	w, b := m.weights[name+".weight"], m.weights[name+".bias"]
	out := make([][]float64, len(x))
	for i, row := range x {
		out[i] = slices.Clone(b)
		for o := range b {
			for j, a := range row {
				out[i][o] += w[o*len(row)+j] * a
			}
		}
	}
	return out
}

func (m tiny) normalize(x [][]float64, name string) {
	for _, row := range x {
		var mean, spread float64
		for _, a := range row {
			mean += a / hidden
		}
		for _, a := range row {
			spread += (a - mean) * (a - mean) / hidden
		}
		for j, a := range row {
			row[j] = (a-mean)/math.Sqrt(spread+1e-12)*m.weights[name+".weight"][j] + m.weights[name+".bias"][j]
		}
	}
}

func apart(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	var most float64
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}

// TestEmbedText: what comes out is what another forward pass over the same weights says, for texts that try the tokenizer.
func TestEmbedText(t *testing.T) {
	t.Parallel()
	model, dir := newTiny(), visible(t)
	model.write(t, dir, "", "F32")
	b := benchWith(t, dir)
	for text, tokens := range map[string][]string{
		"Hello, WORLDS!":                      {"[CLS]", "hello", ",", "world", "##s", "!", "[SEP]"},
		"Caf\u00e9 cafe\u0301":                {"[CLS]", "cafe", "cafe", "[SEP]"},
		"世界 \x00\x07hello\u200b xyz":          {"[CLS]", "世", "界", "hello", "[UNK]", "[SEP]"},
		strings.Repeat("a ", 5000):            {"[CLS]", "a", "a", "a", "a", "a", "a", "a", "[SEP]"}, // cut to the maximum input of the model
		strings.Repeat("wor", 34) + "\n😂 a\t": {"[CLS]", "[UNK]", "[UNK]", "a", "[SEP]"},
		"😂":                                   {"[CLS]", "[UNK]", "[SEP]"},
		" ":                                   {"[CLS]", "[SEP]"},
	} {
		want := model.mean(tokens)
		var plain, unit embedding
		b.run(t, "embed_text", map[string]any{"text": text, "normalize": false}, &plain)
		b.run(t, "embed_text", map[string]any{"text": text, "model": "all-MiniLM-L6-v2"}, &unit)
		if d := apart(want, plain.Vector); d > 1e-5 || plain.Dimension != hidden || plain.Model != "all-MiniLM-L6-v2" || plain.Normalized || plain.TextLength != len([]rune(text)) {
			t.Errorf("%.20q: %g away: %+v, want %v", text, d, plain, want)
		}
		var length float64
		for _, x := range want {
			length += x * x
		}
		for i := range want {
			want[i] /= math.Sqrt(length)
		}
		if d := apart(want, unit.Vector); d > 1e-5 || !unit.Normalized {
			t.Errorf("%.20q: %g away, normalized", text, d)
		}
	}
}

// TestEmbedTextForms: other ways of laying the same model out, and several models by name.
func TestEmbedTextForms(t *testing.T) {
	t.Parallel()
	model, dir := newTiny(), visible(t)
	want := model.mean([]string{"[CLS]", "hello", "[SEP]"})
	model.write(t, filepath.Join(dir, "all-MiniLM-L6-v2"), "bert.", "BF16")
	other := filepath.Join(dir, "paraphrase-MiniLM-L6-v2")
	model.write(t, other, "", "F32")
	if err := os.Remove(filepath.Join(other, "vocab.txt")); err != nil {
		t.Fatal(err)
	}
	vocabulary := map[string]int{}
	for i, piece := range model.vocabulary {
		vocabulary[piece] = i
	}
	text, err := json.Marshal(map[string]any{"normalizer": map[string]any{"lowercase": true}, "model": map[string]any{"type": "WordPiece", "vocab": vocabulary}})
	if err != nil {
		t.Fatal(err)
	}
	put(t, other, "tokenizer.json", string(text))
	b := benchWith(t, dir)
	var rough, exact embedding
	b.run(t, "embed_text", map[string]any{"text": "HELLO", "normalize": false}, &rough)
	b.run(t, "embed_text", map[string]any{"text": "HELLO", "normalize": false, "model": "paraphrase-MiniLM-L6-v2"}, &exact)
	if apart(want, rough.Vector) > 0.1 || rough.Model != "all-MiniLM-L6-v2" || apart(want, exact.Vector) > 1e-5 || exact.Model != "paraphrase-MiniLM-L6-v2" {
		t.Errorf("%v and %v, want %v", rough, exact, want)
	}
	outcome := b.outcome(t, "embed_text", map[string]any{"text": "hello", "model": "all-mpnet-base-v2"})
	if e := outcome.Error; e == nil || !strings.Contains(e.Message, "EmbeddingModelUnusable") || !strings.Contains(e.Message, "all-mpnet-base-v2/config.json") {
		t.Errorf("%+v", e)
	}
}

// TestEmbedTextWithoutAModel: an error of a type of its own that says what to do, and nothing that looks like a vector.
func TestEmbedTextWithoutAModel(t *testing.T) {
	t.Parallel()
	outcome := newBench(t).outcome(t, "embed_text", map[string]any{"text": "hello"})
	if e := outcome.Error; e == nil || !strings.Contains(e.Message, "EmbeddingModelNotConfigured") || !strings.Contains(e.Message, "--embedding-model DIR") || outcome.Output != nil {
		t.Errorf("%+v, output %s", e, outcome.Output)
	}
}

// TestEmbedTextDamaged: a model whose files are cut off, lie, or are of a kind that nobody here computes.
func TestEmbedTextDamaged(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file, text string // "" takes the file away
		want       string
	}{
		"no weights":      {"model.safetensors", "", "no model.safetensors"},
		"cut off":         {"model.safetensors", "\x01", "cut off"},
		"a long header":   {"model.safetensors", "\xff\xff\xff\xff\xff\xff\xff\x7f{}", "header is longer"},
		"no header":       {"model.safetensors", "\x02\x00\x00\x00\x00\x00\x00\x00{]", "not JSON"},
		"an empty one":    {"model.safetensors", "\x02\x00\x00\x00\x00\x00\x00\x00{}", "has no embeddings"},
		"offsets outside": {"model.safetensors", "\x68\x00\x00\x00\x00\x00\x00\x00" + `{"embeddings.position_embeddings.weight":{"dtype":"F32","shape":[12,8],"data_offsets":[-384,0]}}` + strings.Repeat(" ", 8), "damaged|has no"},
		"no vocabulary":   {"vocab.txt", "", "vocabulary"},
		"another kind":    {"config.json", `{"model_type":"mpnet"}`, "'mpnet'"},
		"a broken config": {"config.json", `{"model_type":"bert"}`, "do not fit together"},
		"other pooling":   {"1_Pooling/config.json", `{"pooling_mode_weightedmean_tokens":true}`, "pooling"},
		"a dense layer":   {"modules.json", `[{"type":"sentence_transformers.models.Dense","path":"2_Dense"}]`, "Dense"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := visible(t)
			newTiny().write(t, dir, "", "F32")
			if tt.text == "" {
				if err := os.Remove(filepath.Join(dir, tt.file)); err != nil {
					t.Fatal(err)
				}
			} else {
				put(t, dir, tt.file, tt.text)
			}
			outcome := benchWith(t, dir).outcome(t, "embed_text", map[string]any{"text": "hello"})
			e := outcome.Error
			if e == nil || !strings.Contains(e.Message, "EmbeddingModelUnusable") || !slices.ContainsFunc(strings.Split(tt.want, "|"), func(want string) bool { return strings.Contains(e.Message, want) }) {
				t.Errorf("%+v", e)
			}
		})
	}
}

// TestOnlyTheSkillSeesModels: another program of the same server has no such directory, and the skill cannot write to it.
func TestOnlyTheSkillSeesModels(t *testing.T) {
	t.Parallel()
	dir := visible(t)
	newTiny().write(t, dir, "", "F32")
	b := benchWith(t, dir)
	const source = "import os\ndef main():\n    try: open('/models/' + os.listdir('/models')[0] + '/new', 'w')\n    except OSError as e: return e.strerror\n    return 'written'"
	job := runtimes.Job{
		RunID: "run", Workspace: "workspace", Language: runtimes.Python, Runtime: runtimes.PythonEngine, Files: map[string][]byte{"main.py": []byte(source)},
		Entrypoint: "main.py", Input: json.RawMessage(`{}`), Limits: runtimes.DefaultLimits(),
	}
	outcome, _ := runtimetest.Run(t, b.engine, job)
	if string(outcome.Output) != `"No such file or directory"` {
		t.Errorf("another program: %s, %+v", outcome.Output, outcome.Error)
	}
	job.Models = true
	outcome, _ = runtimetest.Run(t, b.engine, job)
	if s := string(outcome.Output); s != `"Read-only file system"` && s != `"Permission denied"` {
		t.Errorf("the skill: %s, %+v", outcome.Output, outcome.Error)
	}
}

// TestReference holds the skill to what sentence-transformers publishes for all-MiniLM-L6-v2, where that model is.
func TestReference(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("ATELIER_TEST_EMBEDDING_MODEL")
	if dir == "" {
		t.Log("measured: embed_text: not tried against all-MiniLM-L6-v2; ATELIER_TEST_EMBEDDING_MODEL=DIR does")
		return
	}
	b := benchWith(t, dir)
	var vectors [][]float64
	for _, text := range []string{"The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."} {
		var e embedding
		b.run(t, "embed_text", map[string]any{"text": text}, &e)
		vectors = append(vectors, e.Vector)
	}
	dot := func(a, b []float64) float64 {
		var sum float64
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	got := []float64{dot(vectors[0], vectors[1]), dot(vectors[0], vectors[2]), dot(vectors[1], vectors[2])}
	if apart(got, []float64{0.6660, 0.1046, 0.1411}) > 5e-5 {
		t.Errorf("similarities %v", got)
	}
	t.Logf("measured: embed_text: similarities %.4f as published for all-MiniLM-L6-v2", got)
}
