//go:build statistical

package family

import "testing"

func TestStatisticalMembersAreWellFormed(t *testing.T) { checkMembers(t, 1, 2, 5) }

func TestStatisticalFeasibleOptimaAreOptimal(t *testing.T) {
	checkFeasibleOptima(t, "limits", "limits:c=2,e=1", "limits:c=3,feasible=0.05", "limits:d=6,c=2", "limits:d=3,border=yes,kernel=matern52", "limits:border=no,feasible=0.1",
		"gramacy", "gramacy:shift=0.25,clusters=3")
}
