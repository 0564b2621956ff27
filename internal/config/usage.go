package config

import (
	"errors"
	"math"
	"regexp"
	"strconv"
)

// Usage holds the prices of the resources that workspaces use, in one currency. 0 means free of charge.
type Usage struct {
	Currency     string
	Run          float64
	CPUSecond    float64
	GPUMinute    float64
	RemoteSecond float64
	Tokens       float64 // price of a million tokens
	Egress       float64 // price of 10^9 bytes
	Storage      float64 // price of storing 10^9 bytes for a month
}

var currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)

// usageSettings lists the settings for prices.
func usageSettings() []Setting {
	const group = "Usage"
	all := []Setting{{Name: "currency", Env: "ATELIER_CURRENCY", Default: "EUR", Form: "CODE", Group: group,
		Help: "Currency of prices and budgets, as three capital letters.",
		set: func(c *Config, v string) error {
			if !currencyForm.MatchString(v) {
				return errors.New("must be a currency of three capital letters, such as EUR")
			}
			c.Usage.Currency = v
			return nil
		}}}
	for _, p := range []struct {
		name, of string
		field    func(*Usage) *float64
	}{
		{"runs", "one run", func(u *Usage) *float64 { return &u.Run }},
		{"cpu-seconds", "one second of CPU time", func(u *Usage) *float64 { return &u.CPUSecond }},
		{"gpu-minutes", "one minute of GPU time", func(u *Usage) *float64 { return &u.GPUMinute }},
		{"remote-seconds", "one second at remote services that do not report their costs", func(u *Usage) *float64 { return &u.RemoteSecond }},
		{"tokens", "one million tokens of language models", func(u *Usage) *float64 { return &u.Tokens }},
		{"egress", "10^9 bytes between programs and their hosts", func(u *Usage) *float64 { return &u.Egress }},
		{"storage", "10^9 bytes of storage for a month", func(u *Usage) *float64 { return &u.Storage }},
	} {
		all = append(all, Setting{Name: "price-" + p.name, Env: envName("price-" + p.name), Default: "0", Form: "AMOUNT", Group: group,
			Help: "Price of " + p.of + ", in the server's currency. Costs and cost budgets are computed with it.",
			set:  price(func(c *Config) *float64 { return p.field(&c.Usage) })})
	}
	return all
}

func price(field func(*Config) *float64) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsNaN(n) || n < 0 || n > 1e9 {
			return errors.New("must be a number from 0 to 1000000000, such as 0.0025")
		}
		*field(c) = n
		return nil
	}
}
