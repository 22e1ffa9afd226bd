package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fbo-node/fbo/internal/sharebundle"
	"github.com/fbo-node/fbo/node"
)

func (a *api) addShares() {
	const shares = "/v1/tasks/{task}/shares"
	huma.Register(a.API, op(http.MethodGet, shares, "export-shares", "The node's shares as a bundle for nodes without a connection", http.StatusNotFound), a.exportShares)
	post := large(op(http.MethodPost, shares, "import-shares", "Accept the shares of a bundle as if they had arrived from a peer, all or none", http.StatusNotFound))
	post.MaxBodyBytes = sharebundle.MaxBytes/3*4 + 4096
	huma.Register(a.API, post, a.importShares)
}

type exportSharesInput struct {
	InTask
	All bool `query:"all" doc:"Also the shares of other nodes that the node stores."`
}

type bundleBody struct {
	node.ExportedShares
	Bundle []byte `json:"bundle" doc:"The file, in base64."`
}

func (a *api) exportShares(ctx context.Context, in *exportSharesInput) (*answer[bundleBody], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	bundle, exported, err := t.Session().ExportShares(ctx, in.All)
	return answerOf(bundleBody{exported, bundle}, err)
}

type importSharesInput struct {
	InTask
	Body struct {
		Bundle []byte `json:"bundle" doc:"The file, in base64."`
	}
}

func (a *api) importShares(ctx context.Context, in *importSharesInput) (*answer[node.ImportCounts], error) {
	t, err := a.server.Task(in.Task)
	if err != nil {
		return nil, problem(err)
	}
	counts, err := t.Session().ImportShares(ctx, in.Body.Bundle)
	if errors.Is(err, node.ErrBundle) {
		return nil, huma.NewError(http.StatusUnprocessableEntity, plainText(err))
	}
	return answerOf(counts, err)
}
