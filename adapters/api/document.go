package api

import (
	"context"
	_ "embed"
	"net/http"
)

// document describes every call of the listener (OpenAPI 3.1). The tests hold
// each request and each answer they see against it.
//
//go:embed openapi.yaml
var document []byte

// getDocument is GET /v1/openapi.yaml.
func (a *api) getDocument(context.Context, call) (any, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write(document)
	}), nil
}
