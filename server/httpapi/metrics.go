package httpapi

// getMetrics shows the metrics as Prometheus reads them. It is no part of the API's description.
func (a *API) getMetrics() {
	if a.Metrics != nil {
		a.router.Handle("/metrics", a.Metrics)
	}
}
