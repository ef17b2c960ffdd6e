// Package apptest starts the whole program on either database, for tests that use its public
// interfaces: New creates a service, Service.Person a user with a token, and Person.Call calls
// an operation over REST as a client would. Every response is validated against the OpenAPI
// document; one that does not match fails the test. The test controls the clock and the rate
// limits.
package apptest
