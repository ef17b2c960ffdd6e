// Package apptest starts the whole program on either database, for tests that use its public
// interfaces. New creates a service, Service.Person creates a user with a token, and Person.Call
// calls an operation over REST as a client would. A response that does not match the OpenAPI
// document fails the test. The test controls the clock and the rate limits.
package apptest
