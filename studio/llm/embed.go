package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// mostEmbedded is the maximum number of texts in one request. It keeps the answer small enough even if vectors have
// 4096 numbers.
const mostEmbedded = 8

type embedRequest struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

type embedReply struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
	Usage struct {
		PromptTokens int64 `json:"prompt_tokens"`
	} `json:"usage"`
}

// Embed returns a unit vector for each text. It uses the Embeddings API of OpenAI. If the model is busy, Embed does not
// retry, because its callers can work without vectors. After an error it returns the vectors of the texts that
// succeeded before. Error: ModelUnavailable.
func (m *Model) Embed(ctx context.Context, texts []string) (vectors [][]float32, tokens int64, err error) {
	for len(texts) > 0 {
		part := texts[:min(len(texts), mostEmbedded)]
		texts = texts[len(part):]
		body, _, err := m.post(ctx, "/embeddings", embedRequest{m.Name, part})
		if err != nil {
			return vectors, tokens, m.described(err)
		}
		found, used, err := readVectors(body, len(part))
		if err != nil {
			return vectors, tokens, m.described(err)
		}
		vectors, tokens = append(vectors, found...), tokens+used
	}
	return vectors, tokens, nil
}

func readVectors(body []byte, count int) ([][]float32, int64, error) {
	var answer embedReply
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, 0, errors.New("the answer does not have the form of the Embeddings API")
	}
	if len(answer.Data) != count {
		return nil, 0, fmt.Errorf("the answer has %d vectors for %d texts", len(answer.Data), count)
	}
	vectors := make([][]float32, count)
	for _, one := range answer.Data {
		if one.Index < 0 || one.Index >= count || vectors[one.Index] != nil || !normalize(one.Embedding) {
			return nil, 0, errors.New("the answer has a vector that is empty or zero, or that belongs to another text")
		}
		vectors[one.Index] = one.Embedding
	}
	for _, v := range vectors {
		if len(v) != len(vectors[0]) {
			return nil, 0, errors.New("the answer has vectors of different lengths")
		}
	}
	return vectors, answer.Usage.PromptTokens, nil
}

// normalize scales a vector to length 1. It returns false if the vector cannot be scaled, for example a zero vector.
func normalize(v []float32) bool {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsInf(sum, 0) || math.IsNaN(sum) {
		return false
	}
	length := math.Sqrt(sum)
	for i := range v {
		v[i] = float32(float64(v[i]) / length)
	}
	return true
}
