// Package httpapi serves health, status and metrics. It shows one Status, made
// anew for each request, and knows nothing of where it comes from.
package httpapi
