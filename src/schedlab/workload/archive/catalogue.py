"""The logs of the Parallel Workloads Archive: what they are called, and where they are."""

from __future__ import annotations

from dataclasses import dataclass

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean

ARCHIVE = "https://www.cs.huji.ac.il/labs/parallel/workload/"
CITATION = (
    'D. G. Feitelson, D. Tsafrir, D. Krakov, "Experience with using the Parallel Workloads Archive", '
    "J. Parallel Distrib. Comput. 74(10), 2014"
)


@dataclass(frozen=True, slots=True)
class ArchivedLog:
    """One file of the archive. What is not known is 0 or empty; the header of the log itself often says it."""

    name: str  # as people call it
    folder: str
    stem: str
    processors: int = 0
    jobs: int = 0  # records in the file
    acknowledge: str = ""  # who supplied it
    sha256: str = ""  # of the compressed file

    @property
    def file(self) -> str:
        return f"{self.stem}.swf.gz"

    @property
    def path(self) -> str:
        """Below the address of the archive."""
        return f"{self.folder}/{self.file}"

    @property
    def thanks(self) -> str:
        """The acknowledgement that the archive asks of those who publish."""
        supplier = self.acknowledge or "the person or site in its header (Acknowledge)"
        return f"in publications acknowledge the Parallel Workloads Archive and, for this log, {supplier}"


# The oldest first, as the archive has them. Checksums are of copies whose compressed bytes are the archive's own.
LOGS = (
    ArchivedLog(
        "NASA-iPSC",
        "l_nasa_ipsc",
        "NASA-iPSC-1993-3.1-cln",
        processors=128,
        jobs=18_239,
        acknowledge="Bill Nitzberg",
        sha256="5589ae9b2fb78e3bf92de097497cf33a91607de1ad54563e43533f7827597f29",
    ),
    ArchivedLog(
        "LANL-CM5",
        "l_lanl_cm5",
        "LANL-CM5-1994-4.1-cln",
        processors=1024,
        jobs=122_060,
        acknowledge="Curt Canada",
        sha256="71ff3dfa301b3ee1bd30ebc63c5363b5e8ec488e75f1f9398aa46d485ef23c3c",
    ),
    ArchivedLog(
        "SDSC-Par-1995",
        "l_sdsc_par",
        "SDSC-Par-1995-3.1-cln",
        processors=400,
        acknowledge="Reagan Moore and Allen Downey",
    ),
    ArchivedLog(
        "SDSC-Par-1996",
        "l_sdsc_par",
        "SDSC-Par-1996-3.1-cln",
        processors=400,
        jobs=32_135,
        acknowledge="Reagan Moore and Allen Downey",
        sha256="cb1aab02b5e3c34659d1c1d6f73c002d415229c59f40c03fab4e20331abdaff7",
    ),
    ArchivedLog("CTC-SP2-1995", "l_ctc_sp2", "CTC-SP2-1995-2"),
    ArchivedLog(
        "CTC-SP2",
        "l_ctc_sp2",
        "CTC-SP2-1996-3.1-cln",
        processors=338,
        jobs=77_222,
        acknowledge="Dan Dwyer and Steve Hotovy",
        sha256="9fa28ac16c4386fb81b72a91d8bd8888281df2948a9d912769d387c5ee285bb4",
    ),
    ArchivedLog("LLNL-T3D", "l_llnl_t3d", "LLNL-T3D-1996-2"),
    ArchivedLog(
        "KTH-SP2",
        "l_kth_sp2",
        "KTH-SP2-1996-2.1-cln",
        processors=100,
        jobs=28_476,
        acknowledge="Lars Malinowsky",
        sha256="3e152f201fd2e96808a735bced6ea6eb0bb07fdc447689cafb0750d87b264c0b",
    ),
    ArchivedLog(
        "SDSC-SP2",
        "l_sdsc_sp2",
        "SDSC-SP2-1998-4.2-cln",
        processors=128,
        jobs=59_715,
        acknowledge="Victor Hazlewood",
        sha256="e03fe48be50c4ab04d6bb2285296d9c3399e9c1f27ee79b754ad32a14abd9bac",
    ),
    ArchivedLog("LANL-O2K", "l_lanl_o2k", "LANL-O2K-1999-2"),
    ArchivedLog("OSC-Clust", "l_osc", "OSC-Clust-2000-3.1-cln"),
    ArchivedLog(
        "SDSC-BLUE",
        "l_sdsc_blue",
        "SDSC-BLUE-2000-4.2-cln",
        processors=1152,
        jobs=243_306,
        acknowledge="Travis Earheart and Nancy Wilkins-Diehr",
        sha256="9aab21f3cfa108f3ecefa52391b384d996dcf4216f920186f47a734646b2c658",
    ),
    ArchivedLog("Sandia-Ross", "l_sandia_ross", "Sandia-Ross-2001-1.1-cln"),
    ArchivedLog(
        "HPC2N",
        "l_hpc2n",
        "HPC2N-2002-2.2-cln",
        processors=240,
        jobs=202_871,
        acknowledge="Åke Sandgren",
        sha256="3c534857d6065cfd9cc35aac8d064c9c17172be7acf336de835006f43a626e64",
    ),
    *(ArchivedLog(f"DAS2-fs{number}", "l_das2", f"DAS2-fs{number}-2003-1") for number in range(5)),
    ArchivedLog(
        "SDSC-DS",
        "l_sdsc_ds",
        "SDSC-DS-2004-2.1-cln",
        processors=1664,
        jobs=96_069,
        acknowledge="Victor Hazlewood",
        sha256="0ddb885a96a7f5ee9009d8a36ef350b1d1c451044c205811938995aac80fcc36",
    ),
    ArchivedLog(
        "LPC-EGEE",
        "l_lpc",
        "LPC-EGEE-2004-1.2-cln",
        processors=140,
        jobs=234_889,
        acknowledge="Emmanuel Medernach",
        sha256="2fc37df5cc14c355fc7a88235f72e54fdf5f0d93de09399d015383ee5c35a59d",
    ),
    ArchivedLog("LCG", "l_lcg", "LCG-2005-1", processors=24_515, jobs=188_041, acknowledge="Hui Li"),
    ArchivedLog("SHARCNET", "l_sharcnet", "SHARCNET-2005-2"),
    ArchivedLog("SHARCNET-Whale", "l_sharcnet", "SHARCNET-Whale-2006-2"),
    ArchivedLog("LLNL-uBGL", "l_llnl_ubgl", "LLNL-uBGL-2006-2"),
    ArchivedLog(
        "LLNL-Atlas",
        "l_llnl_atlas",
        "LLNL-Atlas-2006-2.1-cln",
        processors=9216,
        jobs=43_778,
        acknowledge="Moe Jette (LLNL)",
        sha256="48cc83b7a0490252aa1ae41a4b03dd598bc0683e146be94047febee36e7e0b36",
    ),
    ArchivedLog(
        "LLNL-Thunder",
        "l_llnl_thunder",
        "LLNL-Thunder-2007-1.1-cln",
        processors=4008,
        jobs=121_039,
        acknowledge="Moe Jette (LLNL)",
        sha256="00d9bce501efd3a23cd0713bbae591516b7a69217d5f4b851725f601f3b75247",
    ),
    ArchivedLog("CIEMAT-Euler", "l_ciemat_euler", "CIEMAT-Euler-2008-1"),
    ArchivedLog(
        "ANL-Intrepid",
        "l_anl_int",
        "ANL-Intrepid-2009-1",
        processors=163_840,
        acknowledge="Susan Coghlan, Narayan Desai and Wei Tang",
    ),
    ArchivedLog(
        "METACENTRUM-2009",
        "l_metacentrum",
        "METACENTRUM-2009-2",
        processors=806,
        jobs=103_656,
        acknowledge="the Czech National Grid and Dalibor Klusáček",
    ),
    ArchivedLog(
        "PIK-IPLEX",
        "l_pik_iplex",
        "PIK-IPLEX-2009-1",
        processors=2560,
        jobs=742_964,
        acknowledge="Ciaron Linstead",
    ),
    ArchivedLog(
        "RICC", "l_ricc", "RICC-2010-2", processors=8192, jobs=447_794, acknowledge="Motoyoshi Kurokawa (RIKEN)"
    ),
    ArchivedLog(
        "CEA-Curie",
        "l_cea_curie",
        "CEA-Curie-2011-2.1-cln",
        processors=93_312,
        jobs=312_826,
        acknowledge="Joseph Emeras and CEA/CNRS",
        sha256="2a0fdbd40837590b491bbbac7d4cfe521de1f0b14c0dc39bbf82c4e49ea75bce",
    ),
    *(ArchivedLog(f"Intel-Netbatch{pool}", "l_intel_netbatch", f"Intel-Netbatch{pool}-2012-1") for pool in "ABCD"),
    ArchivedLog("METACENTRUM-2013", "l_metacentrum2", "METACENTRUM-2013-3"),
    ArchivedLog(
        "UniLu-Gaia",
        "l_unilu_gaia",
        "UniLu-Gaia-2014-2",
        processors=2004,
        jobs=51_987,
        acknowledge="Joseph Emeras (SnT)",
    ),
    ArchivedLog("KIT-FH2", "l_kit_fh2", "KIT-FH2-2016-1"),
)


def find_log(name: str) -> ArchivedLog:
    """The log of that name, or of that file name; a beginning will do if only one log's name begins so."""
    wanted = name.strip().casefold().removesuffix(".gz").removesuffix(".swf")
    for log in LOGS:
        if wanted in (log.name.casefold(), log.stem.casefold()):
            return log
    near = [log for log in LOGS if wanted and _begins(log, wanted)]
    if len(near) == 1:
        return near[0]
    if near:
        raise InputError(f"'{name}' may be {_either([log.name for log in near])}", hint="write more of the name")
    hint = did_you_mean(wanted, (log.name for log in LOGS), "schedlab fetch --list shows all")
    raise InputError(f"the archive has no log '{name}'", hint=hint)


def _begins(log: ArchivedLog, wanted: str) -> bool:
    return log.name.casefold().startswith(wanted) or log.stem.casefold().startswith(wanted)


def _either(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
