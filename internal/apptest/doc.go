// Package apptest boots the whole program on either database, for tests that
// go through the front door: New makes a service, Service.Person somebody with
// a token, and Person.Call calls an operation over REST as a client would.
//
// Every answer is validated against the OpenAPI document; one that does not
// match fails the test. Clock and rate limits are the test's own.
package apptest
