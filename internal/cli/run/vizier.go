package run

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/httpaccess"
	"github.com/fbo-node/fbo/internal/trialserver"
	"github.com/fbo-node/fbo/internal/vizierapi"
)

// vizierOptions are the flags about the service of OSS Vizier.
type vizierOptions struct {
	address string
	token   bool
}

func (o *vizierOptions) add(flags *pflag.FlagSet) {
	flags.StringVar(&o.address, "vizier", "", "address to serve the gRPC service of OSS Vizier at, such as 127.0.0.1:28080, for programs with its client (default: not)")
	flags.BoolVar(&o.token, "vizier-token", false, "serve --vizier to programs with the token only, and with --tls-cert over TLS; required if other machines can reach the address")
}

func (o vizierOptions) validate() error {
	if o.address == "" {
		if o.token {
			return base.Usagef("--vizier-token is about --vizier, which is missing")
		}
		return nil
	}
	local, err := httpaccess.CheckAddress(o.address)
	switch {
	case err != nil:
		return base.Usagef("--vizier %w", err)
	case !local && !o.token:
		return base.Usagef("--vizier %s: other machines can reach it without a token; expected an address of this machine such as 127.0.0.1:28080, or --vizier-token", o.address)
	}
	return nil
}

// serveVizier serves OSS Vizier's service until the returned web is closed; nil without --vizier.
func (o webOptions) serveVizier(ctx context.Context, d *trialserver.Server, counter *httpaccess.Counter) (w *web, failed <-chan error, err error) {
	if o.vizier.address == "" {
		return nil, nil, nil
	}
	handler, err := vizierapi.New(d, vizierapi.Options{})
	if err != nil {
		return nil, nil, err
	}
	policy := limits(o.rateLimit)
	policy.MaxBody, policy.CheckHost, policy.Hosts = vizierapi.MaxBody+1<<10, true, o.hosts
	one := door{policy: policy, protocols: &http.Protocols{}}
	one.protocols.SetUnencryptedHTTP2(true)
	w = &web{}
	if o.vizier.token {
		dir := d.Node().Dir
		if one.policy.Token, err = httpaccess.LoadToken(filepath.Join(dir, tokenFile)); err != nil {
			return nil, nil, fmt.Errorf("token: %w", err)
		}
		if one.secure, err = o.tls("h2"); err != nil {
			return nil, nil, err
		}
		one.protocols.SetHTTP2(one.secure != nil)
	}
	if one.listener, err = net.Listen("tcp", o.vizier.address); err != nil {
		return nil, nil, fmt.Errorf("--vizier %s: %w", o.vizier.address, err)
	}
	w.url = one.listener.Addr().String()
	if local, _ := httpaccess.CheckAddress(o.vizier.address); !local && one.secure == nil { // it was checked before
		w.warnings = append(w.warnings, fmt.Sprintf("%s can be reached from other machines, and without --tls-cert the token and all else can be read on the way", w.url))
	}
	w.doors = []door{one}
	return w, w.serve(ctx, handler, counter), nil
}
