// Package storage stands in for Google's storage client, which Temporal's server links for archiving
// to buckets. A development server archives nothing, and the real package takes an eighth of the
// whole build with what it brings along. Here nothing can be stored or found.
package storage

import (
	"context"
	"errors"

	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
)

// ScopeFullControl is the name of the right that the archiver asks for.
const ScopeFullControl = "https://www.googleapis.com/auth/devstorage.full_control"

var errLeftOut = errors.New("archiving to Google Cloud Storage is left out of this development server")

type (
	Client         struct{}
	BucketHandle   struct{}
	ObjectHandle   struct{}
	Writer         struct{}
	Reader         struct{}
	ObjectIterator struct{}
	BucketAttrs    struct{}
	ObjectAttrs    struct{ Name string }
	Query          struct{ Prefix string }
)

func NewClient(context.Context, ...option.ClientOption) (*Client, error) { return nil, errLeftOut }

func (*Client) Bucket(string) *BucketHandle { return &BucketHandle{} }

func (*BucketHandle) Attrs(context.Context) (*BucketAttrs, error)     { return nil, errLeftOut }
func (*BucketHandle) Object(string) *ObjectHandle                     { return &ObjectHandle{} }
func (*BucketHandle) Objects(context.Context, *Query) *ObjectIterator { return &ObjectIterator{} }

func (*ObjectHandle) Attrs(context.Context) (*ObjectAttrs, error) { return nil, errLeftOut }
func (*ObjectHandle) NewWriter(context.Context) *Writer           { return &Writer{} }
func (*ObjectHandle) NewReader(context.Context) (*Reader, error)  { return nil, errLeftOut }

func (*ObjectIterator) Next() (*ObjectAttrs, error) { return nil, iterator.Done }

func (*Writer) Write([]byte) (int, error)  { return 0, errLeftOut }
func (*Writer) Close() error               { return errLeftOut }
func (*Writer) CloseWithError(error) error { return errLeftOut }

func (*Reader) Read([]byte) (int, error) { return 0, errLeftOut }
func (*Reader) Close() error             { return nil }
