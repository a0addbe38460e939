# Looks for a capability in any of the five sets.
end([n for n in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb") if int(status(n), 16)])
