end([n for n in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb") if int(status(n), 16)])
