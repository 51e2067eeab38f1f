"""Small platforms of SimGrid whose numbers can be computed by hand."""

HEAD = '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
MASTER = '<host id="master_host" speed="1Gf"/>'

# Four hosts of 1 Gf: links of 100 MB/s and 1 ms each, a backbone of 200 MB/s and 2 ms between them.
STAR = """<zone id="all" routing="Full">
  <cluster id="c" prefix="h" suffix="" radical="0-3" speed="1Gf" bw="100MBps" lat="1ms" bb_bw="200MBps" bb_lat="2ms"/>
  <cluster id="m" prefix="master_host" suffix="" radical="0-0" speed="1Gf" bw="100MBps" lat="1ms">
    <prop id="role" value="master"/>
  </cluster>
  <cluster id="s" prefix="pfs" suffix="" radical="0-0" speed="1Gf" bw="10MBps" lat="1ms">
    <prop id="role" value="storage"/>
  </cluster>
  <link id="between" bandwidth="1GBps" latency="3ms"/>
  <zoneRoute src="c" dst="m" gw_src="hc_router" gw_dst="master_hostm_router"><link_ctn id="between"/></zoneRoute>
  <zoneRoute src="c" dst="s" gw_src="hc_router" gw_dst="pfss_router"><link_ctn id="between"/></zoneRoute>
</zone>"""

# Two hosts on one link of 1 MB/s and 100 ms, a third one on a fat pipe to the first.
PAIR = f"""<zone id="z" routing="Full">{MASTER}
  <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf" core="4"/>
  <link id="slow" bandwidth="1MBps" latency="100ms"/>
  <link id="fat" bandwidth="1MBps" latency="0" sharing_policy="FATPIPE"/>
  <link id="split" bandwidth="1MBps" latency="0" sharing_policy="SPLITDUPLEX"/>
  <route src="a" dst="b"><link_ctn id="slow"/></route>
  <route src="a" dst="c"><link_ctn id="fat"/></route>
  <route src="b" dst="c"><link_ctn id="split" direction="UP"/></route>
</zone>"""


def save(folder, body, name="p.xml"):
    path = folder / name
    path.write_text(f"{HEAD}{body}</platform>")
    return path
